import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A plugin's name and the file that holds it, absolute. */
export type PluginFile = {
  readonly name: string;
  readonly path: string;
  /** Why this process cannot load a file of this kind; a sentence. */
  readonly unsupported?: string;
};

/** Where this code runs from its TypeScript sources, so do the shipped plugins. */
export const fromSources = fileURLToPath(import.meta.url).endsWith('.ts');
const extensions = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/** Whether this Node removes types: by itself from 22.18 and 23.6 on, earlier with a flag. */
export const stripsTypes = Boolean(
  (process.features as { readonly typescript?: unknown }).typescript,
);

/**
 * The plugins of some folders, the strongest folder first: a file is named without its extension,
 * a folder counts when it has an `index`; JavaScript is taken before TypeScript of the same name. Names that begin with `_` or `.` are private, anything
 * else is none. A folder that cannot be read holds no plugins.
 */
export async function findPluginFiles(folders: readonly string[]): Promise<readonly PluginFile[]> {
  const found = new Map<string, PluginFile>();
  for (const folder of folders) {
    const readsTypes = stripsTypes || (fromSources && folder === folders.at(-1));
    for (const file of await inFolder(folder)) {
      if (!found.has(file.name)) found.set(file.name, readsTypes ? file : judged(file));
    }
  }
  return [...found.values()];
}

async function inFolder(folder: string): Promise<readonly PluginFile[]> {
  const names = (await readdir(folder).catch(() => [])).sort();
  const files = await Promise.all(
    names.filter((name) => !/^[_.]/.test(name)).map((name) => asPlugin(folder, name)),
  );
  return files.filter((file) => file !== undefined);
}

async function asPlugin(folder: string, name: string): Promise<PluginFile | undefined> {
  const path = join(folder, name);
  const kind = await stat(path).catch(() => undefined);
  if (kind?.isFile() === true) {
    const extension = extname(name);
    const counts = extensions.includes(extension) && !/\.d\.[cm]?ts$/.test(name);
    return counts ? { name: basename(name, extension), path } : undefined;
  }
  if (kind?.isDirectory() !== true) return undefined;
  for (const extension of extensions) {
    const index = join(path, `index${extension}`);
    if ((await stat(index).catch(() => undefined))?.isFile() === true) return { name, path: index };
  }
  return undefined;
}

/** Why this Node cannot run a plugin in TypeScript, and what to do. */
export const typescriptProblem = `TypeScript needs Node 22.18 or 23.6 or newer, and this is ${process.version}; start tws with a newer Node, or compile the plugin to JavaScript beside it.`;

/** Says of TypeScript that this Node cannot run it. */
function judged({ name, path }: PluginFile): PluginFile {
  if (!extname(path).endsWith('ts')) return { name, path };
  return { name, path, unsupported: typescriptProblem };
}
