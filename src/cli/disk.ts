import { randomUUID } from 'node:crypto';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What changes files; each function does one thing, before which a process may end. */
export type FileDisk = {
  readonly write: (path: string, text: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
};

/** The file system. A new file gets its folders. */
export const realDisk: FileDisk = {
  write: async (path, text) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  },
  rename,
  remove: (path) => rm(path),
};

/**
 * Writes a text beside a file, of which it takes over the rights; resolves with where it is. Version control leaves it
 * out in a project (`.tws*`), so that nobody adds it, or cleans it up, before the next run does.
 */
export async function writeBeside(path: string, text: string, disk: FileDisk): Promise<string> {
  const target = await targetOf(path);
  const beside = join(
    dirname(target),
    `.tws-${process.pid}-${randomUUID().slice(0, 8)}.${basename(target)}.new`,
  );
  await disk.write(beside, text);
  const before = await stat(target).catch(() => undefined);
  if (before !== undefined) await chmod(beside, before.mode);
  return beside;
}

/** Puts what was written beside a file in its place: the file is the old or the new one at any time. */
export async function putInPlace(beside: string, path: string, disk: FileDisk): Promise<void> {
  await disk.rename(beside, await targetOf(path));
}

/** Writes a file as a whole. */
export async function writeWhole(
  path: string,
  text: string,
  disk: FileDisk = realDisk,
): Promise<void> {
  await putInPlace(await writeBeside(path, text, disk), path, disk);
}

/** Writes a file anew that was read as `text`, unless somebody has saved it since. */
export async function replaceText(path: string, text: string, by: string): Promise<boolean> {
  const beside = await writeBeside(path, by, realDisk);
  if ((await readFile(path, 'utf8')) === text) {
    await putInPlace(beside, path, realDisk);
    return true;
  }
  await rm(beside);
  return false;
}

/** Where a link leads, so that it stays one. */
async function targetOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Removes what processes that were killed have left beside files of a folder. `deep`: also in its folders. */
export async function removeLeftOver(folder: string, deep: boolean, disk: FileDisk): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const pid = /^\.tws-(\d+)-[\da-f]{8}\..+\.new$/.exec(entry.name)?.[1];
    if (entry.isFile() && pid !== undefined && !isAlive(Number(pid))) await disk.remove(path);
    if (deep && entry.isDirectory() && !entry.name.startsWith('.')) {
      await removeLeftOver(path, deep, disk);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
