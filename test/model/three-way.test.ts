import { describe, expect, it } from 'vitest';
import { mergeEdits } from '../../src/model/three-way.js';

const none = undefined;

type Case = readonly [
  title: string,
  sides: readonly [unknown, unknown, unknown],
  value: unknown,
  conflicts?: readonly string[],
];

const cases: readonly Case[] = [
  ['PL1 takes what the database has changed', [{ a: 1 }, { a: 1 }, { a: 2 }], { a: 2 }],
  ['PL1 keeps what the file has changed', [{ a: 1 }, { a: 2 }, { a: 1 }], { a: 2 }],
  ['PL1 takes a key that the database has added', [{}, {}, { b: 1 }], { b: 1 }],
  [
    'PL1 removes a key that the database has removed',
    [{ a: 1, b: 1 }, { a: 1, b: 1 }, { a: 1 }],
    { a: 1 },
  ],
  [
    'PL1 leaves a key out that the file has removed',
    [{ a: 1, b: 1 }, { a: 1 }, { a: 1, b: 1 }],
    { a: 1 },
  ],
  [
    'PL1 merges changes of different keys',
    [
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      { a: 1, b: 2 },
    ],
    { a: 2, b: 2 },
  ],
  ['PL2 takes a change that both have made', [{ a: 1 }, { a: 2 }, { a: 2 }], { a: 2 }],
  ['PL2 takes what both have removed as removed', [{ a: 1, b: 1 }, { b: 2 }, { b: 1 }], { b: 2 }],
  [
    'PL3 merges objects in objects',
    [{ p: { a: 1, b: 1 } }, { p: { a: 2, b: 1 } }, { p: { a: 1, b: 3 } }],
    { p: { a: 2, b: 3 } },
  ],
  [
    'PL3 merges lists of one length',
    [
      [{ t: 1 }, { t: 1 }],
      [{ t: 2 }, { t: 1 }],
      [{ t: 1 }, { t: 3 }],
    ],
    [{ t: 2 }, { t: 3 }],
  ],
  ['PL3 takes a list of another length as one value', [[1], [1], [1, 2]], [1, 2]],
  [
    'PL4 tells lists that both have changed',
    [{ l: [1] }, { l: [1, 2] }, { l: [3] }],
    { l: [1, 2] },
    ['l'],
  ],
  [
    'PL4 tells what both have changed',
    [
      { a: 1, b: 1 },
      { a: 2, b: 2 },
      { a: 3, b: 1 },
    ],
    { a: 2, b: 2 },
    ['a'],
  ],
  ['PL4 tells a change of what the other side removed', [{ a: 1 }, {}, { a: 2 }], {}, ['a']],
  ['PL4 tells a conflict in a list', [[{ t: 1 }], [{ t: 2 }], [{ t: 3 }]], [{ t: 2 }], ['[0].t']],
  [
    'takes both additions where nothing is known of before',
    [none, { a: 1, c: 1 }, { b: 2, c: 1 }],
    { a: 1, c: 1, b: 2 },
  ],
  [
    'tells differences where nothing is known of before',
    [none, { a: 1 }, { a: 2 }],
    { a: 1 },
    ['a'],
  ],
  [
    'takes a key __proto__ for a key like others',
    [{}, {}, JSON.parse('{"__proto__": 1}')],
    JSON.parse('{"__proto__": 1}'),
  ],
];

describe('a merge of two changes', () => {
  it.each(cases.map((one) => [one[0], one] as const))(
    '%s',
    (_title, [, sides, value, conflicts = []]) => {
      const [base, ours, theirs] = sides;
      const merged = mergeEdits(base, ours, theirs);
      expect(JSON.stringify(merged.value)).toBe(JSON.stringify(value));
      expect(merged.conflicts.map(({ path }) => path)).toEqual(conflicts);
    },
  );

  it('settles conflicts for the side that is preferred', () => {
    const merged = mergeEdits({ a: 1, b: 1 }, { a: 2, b: 2 }, { a: 3, b: 1 }, () => 'theirs');
    expect(merged.value).toEqual({ a: 3, b: 2 });
  });
});
