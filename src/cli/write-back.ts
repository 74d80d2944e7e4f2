import { readFile, writeFile } from 'node:fs/promises';
import { applyEdits, modify } from 'jsonc-parser';

/** Puts `_id` into a JSON text, as its first key, and leaves everything else as it is written. */
export function withId(text: string, id: string): string {
  const formattingOptions = {
    insertSpaces: !/^\t+"/m.test(text),
    tabSize: /^( +)"/m.exec(text)?.[1]?.length ?? 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const edits = modify(text, ['_id'], id, { formattingOptions, getInsertionIndex: () => 0 });
  return applyEdits(text, edits);
}

/**
 * Writes the id that a document was stored under into its file, which was read as `text`. A file that was
 * saved since keeps what is in it now: the next push finds the id by name and owner.
 */
export async function writeBackId(path: string, text: string, id: string): Promise<void> {
  if ((await readFile(path, 'utf8')) !== text) return;
  await writeFile(path, withId(text, id));
}
