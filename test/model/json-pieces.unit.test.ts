import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BigResult } from '../../src/model/big-result.js';
import { jsonPieces } from '../../src/model/json-pieces.js';
import { runs } from '../support/properties.js';

const long = 'x'.repeat(200_000);
const small = { id: 1, name: 'an item', at: [1.5, null, true] };

it.each<[string, unknown]>([
  ['a number', 7],
  ['nothing', null],
  ['a short text', 'a "b" \n'],
  ['a long text', long],
  ['a text of escapes', '\u0001"\\\n'.repeat(50_000)],
  ['a text whose characters have two halves', '😀'.repeat(100_000)],
  ['the same, cut elsewhere', `x${'😀'.repeat(100_000)}`],
  ['a text of lone halves', `${'\ud83d'.repeat(70_000)}${'\ude00'.repeat(70_000)}`],
  ['an empty list', []],
  ['many small objects', Array.from({ length: 20_000 }, () => small)],
  ['long texts in a list', [long, 1, long, long, 2, 3]],
  ['lists in lists', [[[Array.from({ length: 50_000 }, (_, i) => i)]], [long]]],
  ['many keys', Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, small]))],
  ['a long member', { a: 1, long, b: { long }, c: [long] }],
  ['what is absent in an object', { a: undefined, long, b: undefined }],
  ['only what is absent', { long: { a: undefined }, list: [long] }],
  ['a key that is no usual one', JSON.parse(`{"__proto__":${JSON.stringify(long)},"a":1}`)],
])('pieces are the JSON of %s', (_title, value) => {
  const pieces = [...jsonPieces(value)];
  expect(pieces.join('') === JSON.stringify(value)).toBe(true);
  // Escapes make six characters of one.
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(6 * 65_536 + 100);
});

it('pieces are the JSON of any value, without a line break', () => {
  const values = fc.jsonValue({ noUnicodeString: false });
  const parts = fc.array(fc.tuple(values, fc.boolean()), { maxLength: 8 });
  fc.assert(
    fc.property(parts, (drawn) => {
      const value = drawn.map(([one, isLong]) => (isLong ? { one, long } : one));
      const json = [...jsonPieces(value)].join('');
      expect(json === JSON.stringify(value)).toBe(true);
      expect(/[\r\n]/.test(json)).toBe(false);
    }),
    runs(50),
  );
});

it('a large result is base64 in the JSON of its document', () => {
  const big = new BigResult({ text: 'ü', long }, 200_020);
  const { data } = JSON.parse(JSON.stringify({ data: big })) as { readonly data: string };
  expect(JSON.parse(Buffer.from(data, 'base64').toString())).toEqual(big.value);
});

it('a large result can be copied for another thread', () => {
  expect(structuredClone({ big: new BigResult('x', 3) })).toEqual({
    big: { value: 'x', bytes: 3 },
  });
});
