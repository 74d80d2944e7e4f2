import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../config/environment.js';
import { packageRoot } from '../package.js';
import { shippedFolder } from '../validate/samples.js';

/** Where paths of a command line start from. */
export type PathBase = {
  readonly cwd: string;
  /** Folder of the project. */
  readonly root: string;
};

/**
 * The absolute path that is meant. `~tws/` stands for `couch/tws` of the project; without such a
 * folder for the samples of this package, where single files are found in either case.
 */
export function resolvePath(given: string, { cwd, root }: PathBase): string {
  const inside = /^~tws(?:\/(.*))?$/.exec(given)?.[1] ?? (given === '~tws' ? '' : undefined);
  if (inside === undefined) return resolve(cwd, given);
  const own = join(ownFolder(root), inside);
  const shipped = join(shippedFolder(), inside);
  if (!existsSync(ownFolder(root))) return shipped;
  return !existsSync(own) && isFile(shipped) ? shipped : own;
}

/** How a path is shown to the person at `cwd`: as short as it can be. */
export function shownPath(path: string, { cwd }: PathBase): string {
  if (isShipped(path)) return join('~tws', relative(shippedFolder(), path));
  const short = relative(cwd, path);
  return short.startsWith('..') || isAbsolute(short) ? path : short || '.';
}

/** Whether a file is one of the samples: these are never changed. */
export function isShipped(path: string): boolean {
  return isInFolder(shippedFolder(), path);
}

/** Where a project keeps its tasks, flows and jobs. */
export function ownFolder(root: string): string {
  return join(root, 'couch', 'tws');
}

/** Whether a path is in a folder or in one within it. */
export function isInFolder(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** How this command is called here: `tws` where it is on the path, else the way that was taken. */
export function commandName({ npm_lifecycle_event: script }: Environment): string {
  return script === undefined ? 'tws' : 'npx tws';
}

/** A word of a command that people copy into a shell: in quotes where the shell would take it apart. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that installs this package in a project. */
export function installCommand(): string {
  return `npm install ${shellWord(packageRoot())}`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
