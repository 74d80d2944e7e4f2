import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import type { Config } from './load.js';

/** Puts settings into the project's `tws.json`, which is made when there is none. */
export async function saveSettings(
  { file, root }: Pick<Config, 'file' | 'root'>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const path = file ?? join(root, 'tws.json');
  let text = file === undefined ? '{}\n' : await readFile(file, 'utf8');
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  for (const [name, value] of Object.entries(settings)) {
    text = applyEdits(text, modify(text, [name], value, { formattingOptions }));
  }
  await writeFile(path, text);
}
