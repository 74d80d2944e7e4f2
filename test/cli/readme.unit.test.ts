import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/package.js';

const root = packageRoot();
const readme = readFileSync(join(root, 'README.md'), 'utf8');

it('links of the README lead to files that the package holds', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  const links = [...readme.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
  const local = links.filter((link) => !/^https?:/.test(link.trim()));
  expect(local.length).toBeGreaterThan(0);
  for (const link of local) {
    expect(existsSync(join(root, link)), link).toBe(true);
    expect(
      files.some((file) => link === file || link.startsWith(`${file}/`)),
      link,
    ).toBe(true);
  }
});
