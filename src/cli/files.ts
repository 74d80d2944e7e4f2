import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';
import { problem } from '../errors.js';
import { isObject } from '../model/object.js';
import type { FileProblem, Written } from '../validate/written.js';
import { resolvePath, shownPath, type PathBase } from './paths.js';

/** A JSON file that is to be pushed, validated or submitted. */
export type FoundFile = {
  /** Absolute. */
  readonly path: string;
  /** As it is shown to people. */
  readonly shown: string;
  /** Named by itself on the command line, not found in a folder. */
  readonly named: boolean;
};

export type FoundFiles = {
  readonly files: readonly FoundFile[];
  /** Files of folders that are left out, because their name begins with `_`. */
  readonly ignored: readonly string[];
};

/** What a file holds, or why it cannot be read. */
export type ReadFile =
  | { readonly ok: true; readonly file: FoundFile; readonly text: string; readonly doc: Written }
  | { readonly ok: false; readonly problem: FileProblem };

/**
 * The JSON files that paths name: files, and folders with the folders in them.
 * @throws TwsError `file_missing`, `file_unusable`
 */
export async function findFiles(paths: readonly string[], place: PathBase): Promise<FoundFiles> {
  const files = new Map<string, FoundFile>();
  const ignored: string[] = [];
  for (const given of paths) {
    const path = resolvePath(given, place);
    const shown = shownPath(path, place);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw problem('file_missing', { file: shown });
    if (!found.isDirectory()) {
      if (extname(path) !== '.json') {
        throw problem('file_unusable', { file: shown, reason: 'its name does not end in .json.' });
      }
      files.set(path, { path, shown, named: true });
      continue;
    }
    for (const inside of await jsonFilesIn(path)) {
      const file = { path: inside, shown: shownPath(inside, place), named: false };
      if (isIgnored(inside)) ignored.push(file.shown);
      else if (!files.has(inside)) files.set(inside, file);
    }
  }
  return { files: [...files.values()], ignored };
}

/** Reads one file; a mistake in its JSON is told with line and column. */
export async function readJsonFile(file: FoundFile): Promise<ReadFile> {
  const bytes = await readFile(file.path);
  if (isUtf8(bytes)) return readJsonText(bytes.toString('utf8'), file);
  const message = 'The file is not a text in UTF-8; save it as UTF-8.';
  return { ok: false, problem: { file: file.shown, path: '', message } };
}

/** The same for a text that is there already. */
export function readJsonText(text: string, file: FoundFile): ReadFile {
  const errors: ParseError[] = [];
  const doc: unknown = parse(text.replace(/^\uFEFF/, ' '), errors, {
    disallowComments: true,
    allowTrailingComma: false,
  });
  const [first] = errors;
  if (first !== undefined) {
    const message = `The JSON is not valid here: ${words(printParseErrorCode(first.error))}.`;
    return { ok: false, problem: { file: file.shown, path: lineAt(text, first.offset), message } };
  }
  if (!isObject(doc)) {
    return {
      ok: false,
      problem: { file: file.shown, path: '', message: 'The file must hold one JSON object.' },
    };
  }
  return { ok: true, file, text, doc };
}

/** What of a file goes into the database: `$schema` is for editors, and `pushed_from` is set by a push. */
export function fileContent(doc: Written): Written {
  const { $schema, _id, _rev, pushed_from, ...content } = doc;
  return content;
}

/** Hash of a document without `_id` and `_rev`, whatever the order of its keys. */
export function contentHash(doc: Written): string {
  return createHash('sha256')
    .update(canonical(fileContent(doc)))
    .digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

/** The JSON files in a folder and the folders in it, in the order of their names. */
export async function jsonFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: string[] = [];
  for (const entry of names) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await jsonFilesIn(path)));
    else if (extname(entry.name) === '.json') found.push(path);
  }
  return found;
}

function isIgnored(path: string): boolean {
  return basename(path).startsWith('_');
}

/** `PropertyNameExpected` -> `property name expected`. */
function words(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function lineAt(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
