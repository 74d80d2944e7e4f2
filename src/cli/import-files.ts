import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { problem } from '../errors.js';
import { realDisk, removeLeftOver, writeWhole, type FileDisk } from './disk.js';

/** What became, or becomes, of a file of an import. */
export type FileChange = 'created' | 'updated' | 'unchanged';

/** Keeps what imports have written, so that the next one knows what people have changed since. */
const recordPath = join('couch', 'tws', '.import.json');

/** `writing`: what imports that did not end were about to write. */
const recordSchema = z.looseObject({
  files: z.record(z.string(), z.string()),
  writing: z.record(z.string(), z.array(z.string())).optional(),
});

type ImportRecord = Pick<z.infer<typeof recordSchema>, 'files' | 'writing'>;

/**
 * What the files of an import, by their path below `folder`, are to those that are there: files as an earlier import
 * wrote them may be written again. @throws TwsError `import_changed`: people have changed one, or it is their own
 */
export async function compareFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, FileChange>> {
  const { files: written, writing = {} } = await readRecord(folder);
  const changes = new Map<string, FileChange>();
  const changed: string[] = [];
  for (const [path, text] of files) {
    const there = await textAt(join(folder, path));
    if (there === undefined) changes.set(path, 'created');
    else if (there === text) changes.set(path, 'unchanged');
    else if ([written[path], ...(writing[path] ?? [])].includes(hashOf(there))) {
      changes.set(path, 'updated');
    } else changed.push(path);
  }
  if (changed.length > 0) throw problem('import_changed', { files: changed });
  return changes;
}

/**
 * Writes the files of an import that are new or other than before. It may be killed before each write: a file is the
 * old or the new one, and the next import knows both for its own.
 */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  changes: ReadonlyMap<string, FileChange>,
  disk: FileDisk = realDisk,
): Promise<void> {
  const before = await readRecord(folder);
  const hashes = [...files].map(([path, text]): [string, string] => [path, hashOf(text)]);
  const writing = hashes.map(([path, hash]): [string, string[]] => [
    path,
    [...new Set([...(before.writing?.[path] ?? []), hash])],
  ]);
  await writeRecord(
    folder,
    { files: before.files, writing: { ...before.writing, ...Object.fromEntries(writing) } },
    disk,
  );
  for (const [path, text] of files) {
    if (changes.get(path) !== 'unchanged') await writeWhole(join(folder, path), text, disk);
  }
  await writeRecord(folder, { files: { ...before.files, ...Object.fromEntries(hashes) } }, disk);
  for (const path of new Set([recordPath, ...files.keys()].map((one) => dirname(one)))) {
    await removeLeftOver(join(folder, path), false, disk);
  }
}

async function writeRecord(folder: string, record: ImportRecord, disk: FileDisk): Promise<void> {
  await writeWhole(join(folder, recordPath), `${JSON.stringify(record, null, 2)}\n`, disk);
}

async function readRecord(folder: string): Promise<ImportRecord> {
  const text = await textAt(join(folder, recordPath));
  try {
    return recordSchema.parse(JSON.parse(text ?? '{"files":{}}'));
  } catch {
    // What was written is not known: then nothing that is there is written over.
    return { files: {} };
  }
}

async function textAt(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
