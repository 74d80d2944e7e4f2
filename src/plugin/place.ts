import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../package.js';

/** The folders of the engine's own code, which is nobody's place to look at. */
const own = ['src', join('dist', 'src')].map((folder) => join(packageRoot(), folder, sep));

/** Where errors of another thread or process were made. */
const known = new WeakMap<Error, string>();

/** Keeps the place of an error that was made elsewhere. */
export function placed<E extends Error>(error: E, at: string | undefined): E {
  if (at !== undefined) known.set(error, at);
  return error;
}

/**
 * The line of the project in which an error was made: `plugins/load.mjs:12`, relative to the project's
 * folder. Undefined when no frame of it is in there; packages do not count.
 */
export function errorPlace(error: unknown, folder: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const place = known.get(error);
  if (place !== undefined) return place;
  for (const line of stackOf(error).split('\n')) {
    const [, file = '', number = ''] = frame.exec(line) ?? [];
    const path = pathOf(file);
    if (path === undefined || own.some((folder) => path.startsWith(folder))) continue;
    const inside = relative(folder, path);
    const foreign = inside === '' || inside.startsWith('..') || isAbsolute(inside);
    if (foreign || inside.split(sep).includes('node_modules')) continue;
    return `${inside.split(sep).join('/')}:${number}`;
  }
  return undefined;
}

const frame = /^\s*(?:at (?:.*\()?)?((?:file:\/\/)?\/.*?|[A-Za-z]:\\.*?):(\d+)(?::\d+)?\)?$/;

function stackOf(error: Error): string {
  try {
    return String(error.stack ?? '');
  } catch {
    return '';
  }
}

/** A module that is loaded again carries a query in its URL. */
function pathOf(file: string): string | undefined {
  if (file === '') return undefined;
  const path = file.replace(/\?.*$/, '');
  return path.startsWith('file://') ? fileURLToPath(path) : path;
}
