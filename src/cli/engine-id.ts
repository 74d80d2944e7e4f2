import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The id of the engines of a folder, made once and kept in `engine-id` of `dir` (`.tws`). Undefined
 * where it cannot be kept: each start then has an id of its own.
 */
export async function savedEngineId(dir: string): Promise<string | undefined> {
  const file = join(dir, 'engine-id');
  const known = await readId(file);
  if (known !== undefined) return known;
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const id = randomUUID();
    // Of two that are first at once, the second takes what the first has written.
    await writeFile(file, `${id}\n`, { flag: 'wx', mode: 0o600 });
    return id;
  } catch {
    return readId(file);
  }
}

async function readId(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^([\w-]{8,64})\s*$/.exec(text)?.[1];
}
