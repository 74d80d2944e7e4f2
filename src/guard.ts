import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from './package.js';

/** Throws `{forbidden}`, with a sentence, when `next` may not take the place of `old` (null: nothing). */
type Guard = (next: unknown, old: unknown, user?: unknown, security?: unknown) => void;

/** The file of which the store makes the text of `_design/<app>_guard`. */
const file = join(packageRoot(), 'couch', 'guard', 'validate_doc_update.js');
const loaded = (await import(pathToFileURL(file).href)) as { readonly default: Guard };

/** The guard of this version, as a function of this process. It changes nothing that it is given. */
export const guard: Guard = loaded.default;

/** Its text as a design document holds it: without its name. */
export const guardText = `function ${/^export default function \w+(.*\})$/ms.exec(readFileSync(file, 'utf8'))?.[1]}`;

/** The sentence with which the guard refuses a document; undefined when it does not. */
export function guardRefusal(next: unknown, old: unknown): string | undefined {
  try {
    guard(next, old);
    return undefined;
  } catch (error) {
    return String((error as { readonly forbidden?: unknown }).forbidden);
  }
}
