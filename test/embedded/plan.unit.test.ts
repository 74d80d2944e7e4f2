import { expect, test } from 'vitest';

import type { MangoIndex } from '../../src/embedded/mango/indexes.js';
import { planQuery } from '../../src/embedded/mango/plan.js';

const source = {} as NonNullable<MangoIndex['source']>;
const primary: MangoIndex = {
  ddoc: null,
  name: '_all_docs',
  fields: ['_id'],
  partial: undefined,
  source: undefined,
};
const on = (name: string, ...fields: string[]): MangoIndex => ({
  ddoc: `_design/${name}`,
  name,
  fields,
  partial: undefined,
  source,
});
const indexes = [primary, on('a', 'a'), on('ab', 'a', 'b'), on('c', 'c')];

type Asked = Partial<Parameters<typeof planQuery>[1]>;
const plan = (selector: Record<string, unknown>, asked: Asked = {}): ReturnType<typeof planQuery> =>
  planQuery(indexes, {
    selector,
    sort: { fields: [], descending: false },
    useIndex: [],
    allowFallback: true,
    ...asked,
  });

test('takes the index of which most fields are fixed', () => {
  expect(plan({ a: 1, b: 2 }).index.name).toBe('ab');
  expect(plan({ a: 1 }).index.name).toBe('a');
});

test('reads only the part of the index between the bounds', () => {
  expect(plan({ a: 1, b: { $gt: 2, $lte: 5 } }).range).toEqual({
    reverse: false,
    from: { key: [1, 2] },
    to: { key: [1, 5], below: true },
  });
});

test('takes no index whose fields may be missing', () => {
  expect(plan({ $or: [{ c: 1 }, { d: 1 }] }).index.name).toBe('_all_docs');
  expect(plan({ c: { $exists: false } }).index.name).toBe('_all_docs');
});

test('warns when all documents have to be read', () => {
  expect(plan({ x: 1 }).warning).toMatch(/No matching index/);
  expect(plan({ _id: 'x' }).warning).toBeUndefined();
});

test('takes an index for a sort, also behind fields that are fixed', () => {
  const sort = { fields: ['b'], descending: true };
  expect(plan({ a: 1 }, { sort })).toMatchObject({
    index: { name: 'ab' },
    range: { reverse: true },
  });
  expect(() => plan({ a: { $gt: 1 } }, { sort })).toThrow(/No index exists for this sort/);
});

test('follows use_index where it can, and says where it cannot', () => {
  expect(plan({ a: 1, b: 2 }, { useIndex: ['_design/a'] }).index.name).toBe('a');
  const ignored = plan({ a: 1 }, { useIndex: ['c'] });
  expect(ignored).toMatchObject({ index: { name: 'a' } });
  expect(ignored.warning).toMatch(/c was not used/);
  expect(() => plan({ a: 1 }, { useIndex: ['c'], allowFallback: false })).toThrow(/use_index/);
});

test('takes a partial index only when it is asked for', () => {
  const partial: MangoIndex = { ...on('p', 'a', 'b'), partial: { done: true } };
  const request = {
    selector: { a: 1, b: 1 },
    sort: { fields: [], descending: false },
    allowFallback: true,
  };
  const all = [primary, partial];
  expect(planQuery(all, { ...request, useIndex: [] }).index.name).toBe('_all_docs');
  expect(planQuery(all, { ...request, useIndex: ['p'] }).index.name).toBe('p');
});
