import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { problem } from '../errors.js';

/** What became, or becomes, of a file of an import. */
export type FileChange = 'created' | 'updated' | 'unchanged';

/** Keeps what imports have written, so that the next one knows what people have changed since. */
const recordPath = join('couch', 'tws', '.import.json');

const recordSchema = z.looseObject({ files: z.record(z.string(), z.string()) });

/**
 * What the files of an import, by their path below `folder`, are to those that are there: files as an earlier import
 * wrote them may be written again. @throws TwsError `import_changed`: people have changed one, or it is their own
 */
export async function compareFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, FileChange>> {
  const written = await readRecord(folder);
  const changes = new Map<string, FileChange>();
  const changed: string[] = [];
  for (const [path, text] of files) {
    const there = await textAt(join(folder, path));
    if (there === undefined) changes.set(path, 'created');
    else if (there === text) changes.set(path, 'unchanged');
    else if (written[path] === hashOf(there)) changes.set(path, 'updated');
    else changed.push(path);
  }
  if (changed.length > 0) throw problem('import_changed', { files: changed });
  return changes;
}

/** Writes the files of an import that are new or other than before. */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  changes: ReadonlyMap<string, FileChange>,
): Promise<void> {
  const record = { ...(await readRecord(folder)) };
  for (const [path, text] of files) {
    record[path] = hashOf(text);
    if (changes.get(path) === 'unchanged') continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await mkdir(dirname(join(folder, recordPath)), { recursive: true });
  await writeFile(join(folder, recordPath), `${JSON.stringify({ files: record }, null, 2)}\n`);
}

async function readRecord(folder: string): Promise<Readonly<Record<string, string>>> {
  const text = await textAt(join(folder, recordPath));
  try {
    return recordSchema.parse(JSON.parse(text ?? '{"files":{}}')).files;
  } catch {
    // What was written is not known: then nothing that is there is written over.
    return {};
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
