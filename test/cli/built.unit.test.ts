import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

type Built = {
  readonly isBuilt: (root: string) => boolean;
  readonly sayBuilt: (root: string, began: Date) => void;
};
const file = new URL('../../scripts/built.js', import.meta.url).href;
const { isBuilt, sayBuilt } = (await import(file)) as Built;

const root = mkdtempSync(join(tmpdir(), 'tws-built-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('asks for a build only when a source is newer than the last one', () => {
  mkdirSync(join(root, 'src', 'deep'), { recursive: true });
  mkdirSync(join(root, 'dist'));
  const source = join(root, 'src', 'deep', 'a.ts');
  writeFileSync(source, '');
  expect(isBuilt(root)).toBe(false);
  sayBuilt(root, new Date(Date.now() + 1_000));
  expect(isBuilt(root)).toBe(true);
  const later = new Date(Date.now() + 5_000);
  utimesSync(source, later, later);
  expect(isBuilt(root)).toBe(false);
});
