import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { liveRules } from '../../src/decide/advance.js';
import type { Intent } from '../../src/decide/intent.js';

const page = readFileSync(new URL('../../src/decide/README.md', import.meta.url), 'utf8');

/** The names in the first column of the table that begins so. */
function namesIn(heading: string): readonly (string | undefined)[] {
  const [, rest = ''] = page.split(heading);
  const [table = ''] = rest.split('\n\n');
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
}

it('the page about decisions has all intents', () => {
  const intents: Readonly<Record<Intent['kind'], true>> = {
    ...{ ignore: true, wait: true, write: true, claim: true, spawn: true, abort: true },
    ...{ look_up: true, acquire: true },
  };
  expect(namesIn('| Intent ')).toEqual(Object.keys(intents));
});

it('the page about decisions has the rules about live jobs in their order', () => {
  expect(namesIn('| Rule ')).toEqual([...liveRules.map(({ name }) => name), 'structure']);
});
