import { describe, expect, it } from 'vitest';
import { isObject } from '../../src/model/object.js';
import { merge, valueAt, without, withValueAt } from '../../src/model/record.js';
import { frozen } from '../support/builders.js';

const hostile = JSON.parse('{"__proto__": {"admin": true}, "a": 1}') as Record<string, unknown>;

describe('merge', () => {
  it.each([
    [
      'merges objects at any depth',
      [{ a: { b: 1, c: 1 } }, { a: { c: 2 } }],
      { a: { b: 1, c: 2 } },
    ],
    ['lets a list replace a list', [{ a: [1, 2] }, { a: [3] }], { a: [3] }],
    ['lets a list replace an object', [{ a: { b: 1 } }, { a: [3] }], { a: [3] }],
    ['lets an object replace a list', [{ a: [3] }, { a: { b: 1 } }], { a: { b: 1 } }],
    ['lets null replace', [{ a: { b: 1 } }, { a: null }], { a: null }],
    ['lets an object replace null', [{ a: null }, { a: { b: 1 } }], { a: { b: 1 } }],
    ['lets an empty string replace', [{ a: 'x' }, { a: '' }], { a: '' }],
    ['lets 0 replace', [{ a: 7 }, { a: 0 }], { a: 0 }],
    ['lets false replace', [{ a: true }, { a: false }], { a: false }],
    ['leaves out layers that are not there', [undefined, { a: 1 }, undefined], { a: 1 }],
    ['keeps keys named like methods of objects', [{ toString: { a: 1 } }], { toString: { a: 1 } }],
    ['drops the key __proto__', [hostile], { a: 1 }],
    ['drops the key __proto__ inside', [{ x: hostile }], { x: { a: 1 } }],
  ])('%s', (_title, layers, merged) => {
    const result = merge(...frozen(layers));
    expect(result).toEqual(merged);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });
});

describe('isObject', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
    [undefined, false],
  ])('says of %j: %s', (value, plain) => {
    expect(isObject(value)).toBe(plain);
  });
});

describe('valueAt', () => {
  it.each([
    ['a key', { a: 1 }, 'a', 1],
    ['a path', { a: { b: [5, 6] } }, 'a.b.1', 6],
    ['nothing below a number', { a: 1 }, 'a.b', undefined],
    ['nothing below null', { a: null }, 'a.b', undefined],
    ['nothing inherited', { a: {} }, 'a.constructor', undefined],
    ['nothing of nothing', undefined, 'a', undefined],
  ])('finds %s', (_title, value, path, found) => {
    expect(valueAt(value, path)).toBe(found);
  });
});

describe('withValueAt', () => {
  it.each([
    ['sets a key', { a: 1 }, 'b', 2, { a: 1, b: 2 }],
    ['makes objects on the way', {}, 'a.b.c', 2, { a: { b: { c: 2 } } }],
    ['keeps what is beside it', { a: { x: 1 } }, 'a.b', 2, { a: { x: 1, b: 2 } }],
    ['replaces what is no object on the way', { a: [1] }, 'a.b', 2, { a: { b: 2 } }],
    ['merges objects', { a: { x: 1 } }, 'a', { y: 2 }, { a: { x: 1, y: 2 } }],
    ['leaves out __proto__', { a: 1 }, '__proto__.admin', true, { a: 1 }],
    ['leaves out __proto__ inside', { a: {} }, 'a.__proto__.admin', true, { a: {} }],
  ])('%s', (_title, record, path, value, next) => {
    const result = withValueAt(frozen(record), path, value);
    expect(result).toEqual(next);
    expect(Object.keys(result)).not.toContain('__proto__');
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });
});

describe('without', () => {
  it('copies a record but for some keys', () => {
    const record = frozen({ a: 1, b: 2, c: 3 });
    expect(without(record, 'a', 'c')).toEqual({ b: 2 });
    expect(without(record)).not.toBe(record);
  });
});
