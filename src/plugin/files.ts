import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, relative, resolve, sep } from 'node:path';
import { pluginProblem } from './failures.js';

/**
 * The absolute path of a file named in parameters, which anybody may write who may write a job. It
 * must be inside the project's folder `cwd`, where a relative path starts, or inside a folder that
 * the operator named in `TWS_FILES`; links count as what they lead to. Of the project, names that
 * begin with a dot and `tws.json` are not for jobs. Throws `FileOutside` or `FileHidden`.
 */
export function projectFile(cwd: string, path: string): string {
  const file = real(resolve(cwd, path));
  if (furtherFolders().some((folder) => inside(real(folder), file) !== undefined)) return file;
  const within = inside(real(cwd), file);
  if (within === undefined) throw pluginProblem('FileOutside', { path, folder: cwd });
  if (isHidden(within)) throw pluginProblem('FileHidden', { path });
  return file;
}

/** Where jobs may write: below this folder of the project. */
const downloads = 'downloads';

/**
 * The absolute path of a file that parameters name for writing. Elsewhere in the project it could become code or
 * settings of the engine. Throws as `projectFile`, or `FileNotForWriting`.
 */
export function downloadFile(cwd: string, path: string): string {
  const folder = projectFile(cwd, downloads);
  const file = projectFile(cwd, path);
  if (file !== folder && inside(folder, file) !== undefined) return file;
  throw pluginProblem('FileNotForWriting', { path, folder: downloads });
}

/** The bytes of a file that parameters name. Throws as `projectFile`, or `FileUnreadable` with the system's reason. */
export async function readProjectFile(cwd: string, path: string): Promise<Buffer> {
  const file = projectFile(cwd, path);
  try {
    return await readFile(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw pluginProblem('FileUnreadable', { path, reason: code ?? message }, cause);
  }
}

/** Folders beside the project from which jobs may name files: absolute, as `PATH` is written. */
function furtherFolders(): readonly string[] {
  return (process.env['TWS_FILES'] ?? '').split(delimiter).filter(isAbsolute);
}

/** Where links lead; of what is not there, the folder that is. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = resolve(path, '..');
    return above === path ? path : resolve(real(above), relative(above, path));
  }
}

/** The path of a file from a folder, if it is in there. */
function inside(folder: string, file: string): string | undefined {
  const path = relative(folder, file);
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path) ? undefined : path;
}

/** Settings, keys and what tools keep for themselves. */
function isHidden(path: string): boolean {
  return path === 'tws.json' || path.split(sep).some((name) => name.startsWith('.'));
}
