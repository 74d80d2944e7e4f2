import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareKeys, encodeKey } from '../../src/embedded/views/collation.js';

/** In CouchDB's order: https://docs.couchdb.org/en/stable/ddocs/views/collation.html */
const ordered = [
  null,
  false,
  true,
  -1e300,
  -2,
  -1.5,
  -1e-300,
  0,
  1e-300,
  1,
  2,
  3,
  4.5,
  1_700_000_000_000,
  1e300,
  '',
  '_',
  '-',
  '!',
  '0',
  '9',
  'a',
  'A',
  'ä',
  'aa',
  'b',
  'B',
  'ba',
  'bb',
  'z',
  '日本',
  '\u{1F600}',
  [],
  ['a'],
  ['a', 1],
  ['b'],
  ['b', 'c'],
  ['b', 'c', 'a'],
  ['b', 'd'],
  ['b', 'd', 'e'],
  [[1]],
  {},
  { a: 1 },
  { a: 2 },
  { b: 1 },
  { b: 2 },
  { b: 2, a: 1 },
  { b: 2, c: 2 },
];

test('orders values as CouchDB does', () => {
  const shuffled = [...ordered].reverse();
  expect(shuffled.sort(compareKeys)).toEqual(ordered);
});

test('encodes values so that their texts have the same order', () => {
  const texts = ordered.map(encodeKey);
  expect([...texts].sort()).toEqual(texts);
});

test('encodes different values differently, and none as the beginning of another', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b));
      // Negative zero and zero are one number.
      fc.pre(!JSON.stringify([a, b]).includes('-0'));
      expect(encodeKey(a).startsWith(encodeKey(b))).toBe(false);
    }),
  );
});

test('compares as the encoded texts do', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [left, right] = [encodeKey(a), encodeKey(b)];
      const expected = left < right ? -1 : left > right ? 1 : 0;
      expect(Math.sign(compareKeys(a, b)) + 0).toBe(expected);
    }),
  );
});

test('treats what is not JSON as null', () => {
  for (const value of [undefined, NaN, Infinity]) expect(encodeKey(value)).toBe(encodeKey(null));
});
