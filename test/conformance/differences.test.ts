import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { differences } from './differences.js';

test('every declared difference names a check of the suite', async () => {
  const folder = import.meta.dirname;
  const names = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'));
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const suite = sources.join('\n');
  const unknown = Object.keys(differences).filter((title) => !suite.includes(`'${title}'`));
  expect(unknown).toEqual([]);
});
