import { resolve } from 'node:path';
import { isObject } from '../model/object.js';
import { problem, TwsError } from '../errors.js';
import { readTextFile, withoutMark } from '../text-file.js';
import type { Written } from '../validate/written.js';

/**
 * The object that `--params` gives: JSON, or `@file` that holds some.
 * @throws TwsError `usage`, `file_missing`, `file_unusable`
 */
export async function readParams(given: string, cwd: string): Promise<Written> {
  const file = given.startsWith('@') ? given.slice(1) : undefined;
  const text = await givenText(given, cwd);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  const what = file === undefined ? '--params' : `${file} of --params`;
  throw problem('usage', { reason: `${what} must be a JSON object such as {"name": "Ada"}.` });
}

/** The text of a flag, or of the file that it names as `@file`. @throws TwsError `file_missing`, `file_unusable` */
export async function givenText(given: string, cwd: string): Promise<string> {
  if (!given.startsWith('@')) return given;
  const file = given.slice(1);
  const text = await readTextFile(resolve(cwd, file), file).catch((error: unknown) => {
    throw error instanceof TwsError ? error : problem('file_missing', { file });
  });
  return withoutMark(text);
}
