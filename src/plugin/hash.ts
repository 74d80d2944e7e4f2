import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/**
 * `sha256:<hex>` of a plugin's code: of its file, or, when that is the index of a folder, of all
 * files in the folder (names and contents, without node_modules and what is hidden).
 */
export async function hashOf(path: string, isFolder: boolean): Promise<string> {
  const hash = createHash('sha256');
  if (!isFolder) return `sha256:${hash.update(await readFile(path)).digest('hex')}`;
  const folder = dirname(path);
  for (const file of (await filesIn(folder)).sort()) {
    hash.update(`${relative(folder, file)}\0`).update(await readFile(file));
  }
  return `sha256:${hash.digest('hex')}`;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const shown = entries.filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'));
  const files = await Promise.all(
    shown.map(async (entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
    }),
  );
  return files.flat();
}

/** Whether a plugin's file is the index of its folder. */
export function isIndexOf(path: string, name: string): boolean {
  return /^index\.[cm]?[jt]s$/.test(basename(path)) && name !== 'index';
}
