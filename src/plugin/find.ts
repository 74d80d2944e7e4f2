import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A plugin's name and the file that holds it, absolute. */
export type PluginFile = { readonly name: string; readonly path: string };

/** Where this code runs from its TypeScript sources, so do the shipped plugins. */
export const fromSources = fileURLToPath(import.meta.url).endsWith('.ts');
const extensions = ['.js', '.mjs', '.cjs'];

/**
 * The plugins of some folders, the strongest folder first: a file is named without its extension,
 * a folder counts when it has an `index`. Names that begin with `_` or `.` are private, anything
 * else is none. A folder that cannot be read holds no plugins.
 */
export async function findPluginFiles(folders: readonly string[]): Promise<readonly PluginFile[]> {
  const found = new Map<string, PluginFile>();
  for (const [index, folder] of folders.entries()) {
    const shipped = index === folders.length - 1;
    const accepted = shipped && fromSources ? [...extensions, '.ts'] : extensions;
    for (const file of await inFolder(folder, accepted)) {
      if (!found.has(file.name)) found.set(file.name, file);
    }
  }
  return [...found.values()];
}

async function inFolder(
  folder: string,
  accepted: readonly string[],
): Promise<readonly PluginFile[]> {
  const names = (await readdir(folder).catch(() => [])).sort();
  const files = await Promise.all(
    names.filter((name) => !/^[_.]/.test(name)).map((name) => asPlugin(folder, name, accepted)),
  );
  return files.filter((file) => file !== undefined);
}

async function asPlugin(
  folder: string,
  name: string,
  accepted: readonly string[],
): Promise<PluginFile | undefined> {
  const path = join(folder, name);
  const kind = await stat(path).catch(() => undefined);
  if (kind?.isFile() === true) {
    const extension = extname(name);
    const counts = accepted.includes(extension) && !name.endsWith('.d.ts');
    return counts ? { name: basename(name, extension), path } : undefined;
  }
  if (kind?.isDirectory() !== true) return undefined;
  for (const extension of accepted) {
    const index = join(path, `index${extension}`);
    if ((await stat(index).catch(() => undefined))?.isFile() === true) return { name, path: index };
  }
  return undefined;
}
