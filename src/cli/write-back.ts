import { applyEdits, modify } from 'jsonc-parser';
import { replaceText } from './disk.js';
import type { JsonChange } from './pull/json-changes.js';

/** Puts `_id` into a JSON text, as its first key, and leaves everything else as it is written. */
export function withId(text: string, id: string): string {
  const formattingOptions = formattingOf(text);
  const edits = modify(text, ['_id'], id, { formattingOptions, getInsertionIndex: () => 0 });
  return applyEdits(text, edits);
}

/** Makes changes in a JSON text and leaves everything else as it is written. */
export function withChanges(text: string, changes: readonly JsonChange[]): string {
  const formattingOptions = formattingOf(text);
  return changes.reduce(
    (written, { path, value }) =>
      applyEdits(written, modify(written, [...path], value, { formattingOptions })),
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
