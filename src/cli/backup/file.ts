import { createHash, randomUUID, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip, type Gunzip } from 'node:zlib';
import { z } from 'zod';
import { problem } from '../../errors.js';
import type { BackedUp } from '../../client-rules.js';

/*
 * A backup is a gzip file of JSON lines: a head, before the documents of each database a line that names it, a line for
 * each revision, and an end with counts and the SHA-256 of all lines before it. A file without an end is cut off.
 */

const format = 1;

/** Which databases a backup may hold. `keys`: those of sensitive values. */
export const backupParts = ['main', 'values', 'keys'] as const;
export type BackupPart = (typeof backupParts)[number];

const headSchema = z.looseObject({
  tws_backup: z.literal(format),
  id: z.string(),
  /** ISO 8601. */
  made: z.string(),
  version: z.string(),
});
const partSchema = z.strictObject({ database: z.string(), part: z.enum(backupParts) });
const docSchema = z.strictObject({ doc: z.looseObject({ _id: z.string(), _rev: z.string() }) });
const endSchema = z.strictObject({
  end: z.strictObject({ lines: z.number(), documents: z.number(), sha256: z.string() }),
});

export type BackupHead = z.infer<typeof headSchema>;
export type BackupEnd = z.infer<typeof endSchema>['end'];

/** Writes a backup; the file has its name only when it is whole. */
export type BackupWriter = {
  readonly part: (database: string, part: BackupPart) => Promise<void>;
  readonly docs: (docs: readonly BackedUp[]) => Promise<void>;
  readonly end: (documents: number) => Promise<BackupEnd>;
  /** Removes what was written. */
  readonly abandon: () => Promise<void>;
};

/** Begins the file of a backup. @throws TwsError `file_unusable` */
export async function createBackupFile(path: string, version: string): Promise<BackupWriter> {
  const made = `${path}.part`;
  const zip = createGzip();
  // One that a killed backup left may be readable by others, and keeps its mode when it is written again.
  await rm(made, { force: true });
  // Whoever may read it may read all jobs.
  const file = createWriteStream(made, { mode: 0o600, flags: 'wx' });
  await once(file, 'open').catch((error: unknown) => {
    // The sentence of the file system holds the path as it is.
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw problem('file_unusable', { file: made, reason: `it cannot be written (${code}).` });
  });
  zip.pipe(file);
  const done = finished(file);
  done.catch(() => undefined);
  const hash = createHash('sha256');
  let lines = 0;
  const write = async (value: unknown): Promise<void> => {
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    lines += 1;
    if (!zip.write(line)) await Promise.race([once(zip, 'drain'), done]);
  };
  await write({ tws_backup: format, id: randomUUID(), made: new Date().toISOString(), version });
  return {
    part: (database, part) => write({ database, part }),
    docs: async (docs) => {
      for (const doc of docs) await write({ doc });
    },
    end: async (documents) => {
      const end = { lines, documents, sha256: hash.digest('hex') };
      zip.end(`${JSON.stringify({ end })}\n`);
      await done;
      await rename(made, path);
      return end;
    },
    abandon: async () => {
      zip.destroy();
      file.destroy();
      await rm(made, { force: true });
    },
  };
}

/** A line of a backup; `line` counts from 1. */
export type BackupLine =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'part'; readonly database: string; readonly part: BackupPart }
  | { readonly kind: 'doc'; readonly doc: BackedUp; readonly line: number }
  | { readonly kind: 'end'; readonly end: BackupEnd };

/**
 * Reads a backup line by line; the end comes only when counts and check sum are right.
 * @throws TwsError `backup_damaged`, `file_missing`
 */
export async function* readBackupFile(path: string, shown: string): AsyncGenerator<BackupLine> {
  const damaged = (reason: string): Error => problem('backup_damaged', { file: shown, reason });
  const file = createReadStream(path);
  const zip = createGunzip();
  file.on('error', (error) => zip.destroy(error));
  const sum = { hash: createHash('sha256'), lines: 0 };
  let ended = false;
  try {
    for await (const text of linesOf(file.pipe(zip))) {
      if (ended) throw damaged('there are lines after its end.');
      const read = readLine(text, sum, damaged);
      ended = read.kind === 'end';
      yield read;
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw problem('file_missing', { file: shown });
    if (code?.startsWith('Z_') === true) throw damaged(`${message}.`);
    throw error;
  } finally {
    file.destroy();
    zip.destroy();
  }
  if (!ended) throw damaged('its end is missing, so it was cut off.');
}

/** The lines of a stream, which may be as long as a document with its attachments. */
async function* linesOf(stream: Gunzip): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const chunk of stream.setEncoding('utf8')) {
    const [first = '', ...more] = String(chunk).split('\n');
    begun.push(first);
    for (const next of more) {
      yield begun.join('');
      begun = [next];
    }
  }
  const rest = begun.join('');
  if (rest !== '') yield rest;
}

type Sum = { readonly hash: Hash; lines: number };

function readLine(text: string, sum: Sum, damaged: (reason: string) => Error): BackupLine {
  const at = `line ${sum.lines + 1}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(`${at} is not JSON.`);
  }
  const end = endSchema.safeParse(value);
  if (end.success) {
    const { lines, sha256 } = end.data.end;
    if (lines !== sum.lines) throw damaged(`it has ${sum.lines} lines instead of ${lines}.`);
    if (sha256 !== sum.hash.digest('hex')) throw damaged('its check sum is another one.');
    return { kind: 'end', end: end.data.end };
  }
  sum.hash.update(`${text}\n`);
  sum.lines += 1;
  if (sum.lines === 1) {
    const head = headSchema.safeParse(value);
    if (!head.success) throw damaged('its first line is not that of a backup of tws.');
    return { kind: 'head', head: head.data };
  }
  const doc = docSchema.safeParse(value);
  if (doc.success) return { kind: 'doc', doc: doc.data.doc, line: sum.lines };
  const part = partSchema.safeParse(value);
  if (!part.success) throw damaged(`${at} is neither a document nor the name of a database.`);
  return { kind: 'part', ...part.data };
}
