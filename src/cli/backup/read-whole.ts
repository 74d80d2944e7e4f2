import type { Io } from '../io.js';
import { readBackupFile, type BackupEnd, type BackupHead, type BackupPart } from './file.js';
import { createTally, type Tally } from './tally.js';

/** What a backup holds of one database. */
export type PartTally = {
  readonly database: string;
  readonly part: BackupPart;
  readonly tally: Tally;
};

export type WholeBackup = {
  readonly head: BackupHead;
  readonly end: BackupEnd;
  readonly parts: readonly PartTally[];
};

/** Reads a backup to its end and checks it. @throws TwsError `backup_damaged`, `file_missing`, `interrupted` */
export async function readWholeBackup(
  path: string,
  shown: string,
  { stop }: Pick<Io, 'stop'>,
): Promise<WholeBackup> {
  const parts: PartTally[] = [];
  let [head, end]: [BackupHead | undefined, BackupEnd | undefined] = [undefined, undefined];
  for await (const line of readBackupFile(path, shown)) {
    stop.throwIfAborted();
    switch (line.kind) {
      case 'head':
        head = line.head;
        break;
      case 'part':
        parts.push({ ...line, tally: createTally() });
        break;
      case 'doc':
        parts.at(-1)?.tally.add(line.doc);
        break;
      case 'end':
        end = line.end;
        break;
    }
  }
  if (head === undefined || end === undefined) throw new Error('A whole backup has head and end.');
  return { head, end, parts };
}

/** The figures of a backup, for people and as JSON. */
export function factsOf({ head, end, parts }: WholeBackup) {
  return {
    ...{ id: head.id, made: head.made, version: head.version, sha256: end.sha256 },
    lines: end.lines,
    databases: parts.map(({ database, part, tally }) => ({
      ...{ database, part, documents: tally.current().size, live_jobs: tally.liveJobs() },
    })),
  };
}
