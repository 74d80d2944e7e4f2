import { applyEdits, modify, parse } from 'jsonc-parser';
import { isObject } from '../model/object.js';
import { replaceText } from './disk.js';
import type { JsonChange } from './pull/json-changes.js';

/** Puts `_id` into the text of a JSON object, as its first key, and leaves everything else as it is written. */
export function withId(text: string, id: string): string {
  const [, head, space = '', first] =
    /^(\uFEFF?\s*\{)(\s*)("(?:[^"\\]|\\.)*"\s*:\s*)/.exec(text) ?? [];
  if (head === undefined || hasId(text)) return withChanges(text, [{ path: ['_id'], value: id }]);
  const colon = /\s$/.test(String(first)) ? ': ' : ':';
  const gap = space === '' && colon === ': ' ? ' ' : space;
  return `${head}${space}"_id"${colon}${JSON.stringify(id)},${gap}${text.slice(head.length + space.length)}`;
}

function hasId(text: string): boolean {
  const doc: unknown = parse(text.replace(/^\uFEFF/, ' '));
  return isObject(doc) && Object.hasOwn(doc, '_id');
}

/** Makes changes in a JSON text and leaves everything else as it is written. */
export function withChanges(text: string, changes: readonly JsonChange[]): string {
  const options = text.trim().includes('\n') ? { formattingOptions: formattingOf(text) } : {};
  return changes.reduce(
    (written, { path, value }) => applyEdits(written, modify(written, [...path], value, options)),
    text,
  );
}

function formattingOf(text: string) {
  return {
    insertSpaces: !/^\t+"/m.test(text),
    tabSize: /^( +)"/m.exec(text)?.[1]?.length ?? 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

/**
 * Writes the id that a document was stored under into its file, which was read as `text`. A file that was
 * saved since keeps what is in it now: the next push finds the id by name and owner.
 */
export async function writeBackId(path: string, text: string, id: string): Promise<void> {
  await replaceText(path, text, withId(text, id));
}
