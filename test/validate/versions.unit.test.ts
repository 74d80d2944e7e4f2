import { expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { parseDocument } from '../../src/reading/parse.js';

const ofVersion = (version: unknown) => ({
  type: 'flow',
  name: 'f',
  owner: 'DEFAULT',
  version,
  tasks: ['a'],
});

it.each([['2'], ['2026-11 beta'], [''], [7]])('a flow may have the version %j', (version) => {
  expect(checkDocument('f.json', ofVersion(version))).toEqual([]);
});

it.each([
  ['2 ', 'version must not begin or end with a space; it is "2 ".'],
  [
    '2\n\u001b[31m3',
    'version must not hold control characters or characters without a shape; it is "2\\n\\u001b[31m3".',
  ],
  [
    '2\u200b',
    'version must not hold control characters or characters without a shape; it is "2\\u200b".',
  ],
])('a new flow is refused with the version %j, and a stored one is read', (version, message) => {
  const doc = ofVersion(version);
  expect(checkDocument('f.json', doc)).toEqual([{ file: 'f.json', path: 'version', message }]);
  expect(parseDocument({ ...doc, _id: 'f', _rev: '1-a' })).toMatchObject({ ok: true });
});
