import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { problem, TwsError } from '../../errors.js';
import type { DocumentCopy } from '../../store/copies.js';
import {
  archivedFactsSchema,
  type Archive,
  type ArchiveEntry,
  type ArchivedFamily,
} from './archive.js';

/** A range of bytes, the last one included. */
export type ByteRange = { readonly first: number; readonly last: number };

/** Where batches are kept: files of a folder, or objects of a bucket. */
export type ArchiveObjects = {
  readonly name: string;
  /** Resolves when it is stored for good; never leaves a part under this name. */
  readonly put: (name: string, bytes: Buffer) => Promise<void>;
  readonly get: (name: string, range?: ByteRange) => Promise<Buffer>;
  readonly names: () => AsyncIterable<string>;
  readonly close: () => Promise<void>;
};

const indexEnd = '.index.json';
const dataEnd = '.jsonl.gz';

const placeSchema = archivedFactsSchema.extend({
  offset: z.int().min(0),
  bytes: z.int().min(1),
  sha256: z.string(),
});
type Place = z.infer<typeof placeSchema>;

const indexSchema = z.looseObject({ at: z.number(), data: z.string(), jobs: z.array(placeSchema) });
type Index = z.infer<typeof indexSchema>;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/**
 * An archive of batches. A batch is a file of gzip members, one for each family (a line of JSON), and an index
 * that says where in it each family is. The index is written last, so a batch without one does not count.
 */
export function batchArchive(objects: ArchiveObjects): Archive {
  const { name } = objects;
  return {
    name,
    store: (families, at) => telling(name, () => storeBatch(objects, families, at)),
    async *entries(job) {
      for (const batch of await telling(name, () => batchNames(objects))) {
        const index = await telling(name, () => readIndex(objects, batch));
        for (const place of index.jobs)
          if ((job ?? place.job) === place.job) yield entryOf(objects, { batch, ...index }, place);
      }
    },
    close: objects.close,
  };
}

/** Words what fails as a failure of the archive. @throws TwsError `archive_failed` */
export async function telling<T>(archive: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof TwsError && error.code === 'archive_failed') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw problem('archive_failed', { archive, reason: reason.replace(/\.$/, '') });
  }
}

async function storeBatch(
  objects: ArchiveObjects,
  families: readonly ArchivedFamily[],
  at: number,
): Promise<void> {
  const members = await Promise.all(families.map(async ({ documents }) => memberOf(documents)));
  let offset = 0;
  const jobs = families.map(({ facts }, i): Place => {
    const { bytes, sha256 } = members[i] as Member;
    const place = { ...facts, offset, bytes: bytes.length, sha256 };
    offset += bytes.length;
    return place;
  });
  const data = Buffer.concat(members.map(({ bytes }) => bytes));
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const name = `${time}-${checksum(data).slice(0, 16)}`;
  const index: Index = { at, data: `${name}${dataEnd}`, jobs };
  await putAndCompare(objects, index.data, data);
  await putAndCompare(objects, `${name}${indexEnd}`, Buffer.from(JSON.stringify(index)));
}

type Member = { readonly bytes: Buffer; readonly sha256: string };

async function memberOf(documents: readonly DocumentCopy[]): Promise<Member> {
  const line = Buffer.from(`${JSON.stringify({ documents })}\n`);
  return { bytes: await zip(line), sha256: checksum(line) };
}

async function putAndCompare(objects: ArchiveObjects, name: string, bytes: Buffer): Promise<void> {
  await objects.put(name, bytes);
  const found = await objects.get(name);
  if (checksum(found) !== checksum(bytes)) throw new Error(`${name} is not what was written`);
}

/** Names of our own make: somebody else may have files beside them. */
const batchName = /^\d{8}T\d{6}Z-[0-9a-f]{16}$/;

/** The names of the batches with an index, the newest first. */
async function batchNames(objects: ArchiveObjects): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const name of objects.names()) {
    const batch = name.slice(0, -indexEnd.length);
    if (name.endsWith(indexEnd) && batchName.test(batch)) found.push(batch);
  }
  return found.sort().reverse();
}

async function readIndex(objects: ArchiveObjects, batch: string): Promise<Index> {
  const name = `${batch}${indexEnd}`;
  const text = (await objects.get(name)).toString();
  try {
    return indexSchema.parse(JSON.parse(text));
  } catch {
    throw new Error(`${name} is no index of a batch`);
  }
}

function entryOf(
  objects: ArchiveObjects,
  { at, batch }: Pick<Index, 'at'> & { readonly batch: string },
  place: Place,
): ArchiveEntry {
  const data = `${batch}${dataEnd}`;
  const { offset, bytes, sha256, ...facts } = place;
  const read = async (): Promise<readonly DocumentCopy[]> => {
    const member = await objects.get(data, { first: offset, last: offset + bytes - 1 });
    const line = await unzip(member);
    if (checksum(line) !== sha256) throw new Error(`job ${facts.job} in ${data} has changed`);
    return (JSON.parse(line.toString()) as { documents: readonly DocumentCopy[] }).documents;
  };
  return { facts, at, read: () => telling(objects.name, read) };
}

function checksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
