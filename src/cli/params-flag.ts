import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { problem } from '../errors.js';
import { isObject } from '../model/object.js';
import type { Written } from '../validate/written.js';

/** The object that `--params` gives: JSON, or `@file` that holds some. @throws TwsError `usage`, `file_missing` */
export async function readParams(given: string, cwd: string): Promise<Written> {
  const file = given.startsWith('@') ? given.slice(1) : undefined;
  const text = file === undefined ? given : await textOf(file, cwd);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  const what = file === undefined ? '--params' : `${file} of --params`;
  throw problem('usage', { reason: `${what} must be a JSON object such as {"name": "Ada"}.` });
}

async function textOf(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch {
    throw problem('file_missing', { file });
  }
}
