import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { liveRules } from '../../src/decide/advance.js';

const page = readFileSync(new URL('../../src/decide/README.md', import.meta.url), 'utf8');

it('the page about decisions has the rules about live jobs in their order', () => {
  const [, table = ''] = page.split('| Rule ');
  const names = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
  expect(names).toEqual([...liveRules.map(({ name }) => name), 'structure']);
});
