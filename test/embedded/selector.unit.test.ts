import { expect, test } from 'vitest';

import { compileSelector, usesRegex } from '../../src/embedded/mango/selector.js';

const doc = {
  _id: 'a',
  name: 'Ann',
  age: 30,
  gone: null,
  tags: ['x', 'y'],
  scores: [{ n: 1 }, { n: 5 }],
  address: { city: 'Rome', 'zip.code': 7 },
  $odd: 1,
};

for (const [title, selector, expected] of [
  ['equals a value', { name: 'Ann' }, true],
  ['differs from another value', { name: 'Bob' }, false],
  ['takes all fields together', { name: 'Ann', age: 31 }, false],
  ['reads into objects by dots', { 'address.city': 'Rome' }, true],
  ['reads into objects by nesting', { address: { city: 'Rome' } }, true],
  ['takes an escaped dot as part of a name', { 'address.zip\\.code': 7 }, true],
  ['matches null', { gone: null }, true],
  ['has no value for a missing field', { none: null }, false],
  ['lets a missing field pass no comparison', { none: { $ne: 1 } }, false],
  ['lets a missing field pass no negated comparison', { $not: { none: 1 } }, false],
  ['knows that a field is missing', { none: { $exists: false } }, true],
  ['knows that a field is there', { gone: { $exists: true } }, true],
  ['negates existence', { $not: { none: { $exists: true } } }, true],
  ['bounds numbers', { age: { $gte: 30, $lt: 31 } }, true],
  ['compares across types in the order of views', { name: { $gt: 1_000 } }, true],
  ['takes $and', { $and: [{ age: { $gt: 1 } }, { age: { $lt: 9 } }] }, false],
  ['takes $or', { $or: [{ age: 1 }, { name: 'Ann' }] }, true],
  ['takes $nor', { $nor: [{ age: 1 }, { name: 'Ann' }] }, false],
  ['takes $not on a condition', { age: { $not: { $gt: 40 } } }, true],
  ['takes $or inside a field', { age: { $or: [{ $lt: 5 }, { $gt: 20 }] } }, true],
  ['takes $in of an array', { tags: { $in: ['y', 'z'] } }, true],
  ['takes $in of a value', { age: { $in: [1, 30] } }, true],
  ['takes $nin', { age: { $nin: [1, 30] } }, false],
  ['takes $all', { tags: { $all: ['y', 'x'] } }, true],
  ['takes $size', { tags: { $size: 2 } }, true],
  ['takes $mod', { age: { $mod: [7, 2] } }, true],
  ['takes $type', { gone: { $type: 'null' } }, true],
  ['takes $elemMatch on values', { tags: { $elemMatch: { $eq: 'x' } } }, true],
  ['takes $elemMatch on objects', { scores: { $elemMatch: { n: { $gt: 4 } } } }, true],
  ['takes $allMatch', { scores: { $allMatch: { n: { $gt: 4 } } } }, false],
  ['takes $keyMapMatch', { address: { $keyMapMatch: { $eq: 'city' } } }, true],
  ['takes $regex', { name: { $regex: '^A' } }, true],
  ['takes $regex with a flag in front', { name: { $regex: '(?i)^a' } }, true],
  ['takes $beginsWith', { name: { $beginsWith: 'An' } }, true],
  ['matches everything with no condition', {}, true],
] as const) {
  test(title, () => {
    expect(compileSelector(selector)(doc)).toBe(expected);
  });
}

for (const selector of [
  'text',
  { a: { $no: 1 } },
  { a: { $in: 1 } },
  { a: { $size: 'x' } },
  { a: { $mod: [0, 1] } },
  { a: { $regex: '(' } },
  { a: { $exists: 1 } },
  { $and: {} },
]) {
  test(`refuses ${JSON.stringify(selector)}`, () => {
    expect(() => compileSelector(selector)).toThrow();
  });
}

test('knows selectors that run regular expressions', () => {
  expect(usesRegex({ $or: [{ a: 1 }, { b: { $regex: 'x' } }] })).toBe(true);
  expect(usesRegex({ a: '$regex' })).toBe(false);
});
