import { expect, it } from 'vitest';
import { progressIn } from '../../src/reading/job-progress.js';

const node = (kind: string, more: object = {}) => ({ kind, ...more });

it.each([
  ['no nodes', [], { done: 0, failed: 0, total: 0, current: [] }],
  ['a flow that no job has begun', [node('task'), node('begin')], { done: 0, total: 1 }],
  [
    'steps however they ended well',
    ['done', 'recovered', 'skipped', 'undone'].map((state) => node('task', { state })),
    { done: 4, failed: 0, total: 4 },
  ],
  ['a failed step', [node('wait', { state: 'failed' })], { done: 0, failed: 1, total: 1 }],
  ['a step that will not come', [node('task', { state: 'unreached' })], { total: 0 }],
  [
    'the runs of a step in a map',
    [node('task', { state: 'active', runs: { total: 9, done: 4, failed: 2, open: 3 } })],
    { done: 4, failed: 2, total: 9 },
  ],
] as const)('the progress of a job counts %s', (_title, nodes, expected) => {
  expect(progressIn(nodes as Parameters<typeof progressIn>[0])).toMatchObject(expected);
});

it('the progress of a job names what is under way, handlers and undo steps among it', () => {
  const nodes = [
    node('task', { state: 'active' }),
    node('task', { state: 'done' }),
    node('handler', { state: 'waiting' }),
    node('undo', { state: 'retrying' }),
    node('map', { state: 'active' }),
  ] as Parameters<typeof progressIn>[0];
  expect(progressIn(nodes).current).toEqual([nodes[0], nodes[2], nodes[3]]);
  expect(progressIn(nodes).total).toBe(2);
});
