import { expect, it } from 'vitest';
import { flowDifferences } from '../../src/reading/flow-differences.js';

const doc = (more: object) => ({ _id: 'a', _rev: '1-x', type: 'flow', ...more });

it.each<[string, object, object, readonly object[]]>([
  [
    'are none of what tells documents of the same content apart',
    { _id: 'b', version: '2' },
    {},
    [],
  ],
  [
    'are none of how it became current',
    { current: true, current_since: 1, current_by: 'a' },
    {},
    [],
  ],
  ['are none in the order of keys', { params: { a: 1, b: 2 } }, { params: { b: 2, a: 1 } }, []],
  [
    'are told by key and item',
    { timeout: 5, tasks: ['a', { task: 'b' }], params: { x: 1 } },
    { tasks: ['a', { task: 'c' }, 'd'], params: [1] },
    [
      { path: 'timeout', from: 5 },
      { path: 'tasks[1].task', from: 'b', to: 'c' },
      { path: 'tasks[2]', to: 'd' },
      { path: 'params', from: { x: 1 }, to: [1] },
    ],
  ],
  [
    'are told of names that every object knows',
    { params: { constructor: 1 } },
    { params: { toString: 2 } },
    [
      { path: 'params.constructor', from: 1 },
      { path: 'params.toString', to: 2 },
    ],
  ],
])('differences of two versions %s', (_title, from, to, differences) => {
  expect(flowDifferences(doc(from), doc(to))).toEqual(differences);
});

it('differences of two versions show values as they are asked to', () => {
  const [from, to] = [doc({ params: { a: [1] } }), doc({ params: { a: [2] } })];
  const shown = flowDifferences(from, to, (value, keys) => `${keys.join('/')}: ${String(value)}`);
  expect(shown).toEqual([{ path: 'params.a[0]', from: 'params/a/0: 1', to: 'params/a/0: 2' }]);
});
