import { readFile } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pluginProblem } from './failures.js';

/**
 * The absolute path of a file named in parameters. A relative path starts at the project's folder
 * `cwd` and must stay inside it; an absolute one is taken as it is. Throws `FileOutside`.
 */
export function projectFile(cwd: string, path: string): string {
  if (isAbsolute(path)) return path;
  const file = resolve(cwd, path);
  const inside = relative(cwd, file);
  const leaves = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  if (leaves) throw pluginProblem('FileOutside', { path, folder: cwd });
  return file;
}

/** The bytes of such a file. Throws `FileOutside`, or `FileUnreadable` with the system's reason. */
export async function readProjectFile(cwd: string, path: string): Promise<Buffer> {
  const file = projectFile(cwd, path);
  try {
    return await readFile(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw pluginProblem('FileUnreadable', { path, reason: code ?? message }, cause);
  }
}
