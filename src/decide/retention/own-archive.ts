import type { WrittenArchive } from '../../model/archive.js';

/** What a flow is compared with: the archive of `tws.json`, and the name of the database of the jobs. */
export type UsualArchive = { readonly usual: WrittenArchive; readonly jobs: string };

/**
 * Returns the archive of a flow with what `tws.json` says of the same bucket, or why it is refused. An engine may
 * write into every database and bucket; permission to store a flow must not open those of others to it.
 */
export function ownArchive(
  archive: WrittenArchive,
  { usual, jobs }: UsualArchive,
): { readonly archive: WrittenArchive } | { readonly refused: string } {
  const { database, s3 } = archive;
  if (database !== undefined) {
    const begins = [`${jobs}-`, `${jobs}_`];
    const isOurs =
      database === usual.database || begins.some((begin) => database.startsWith(begin));
    const wanted = `that of tws.json, or begin with "${begins[0]}" or "${begins[1]}"`;
    return isOurs ? { archive } : { refused: `retain.archive.database must be ${wanted}.` };
  }
  if (s3 === undefined) return { archive };
  if (s3.bucket !== usual.s3?.bucket)
    return { refused: 'retain.archive.s3.bucket must be that of "archive" in tws.json.' };
  return { archive: { s3: { ...usual.s3, ...s3 } } };
}
