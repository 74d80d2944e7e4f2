import { describe, expect, it } from 'vitest';
import { differencesOf } from '../../src/client/same-job.js';
import { initialise } from '../../src/decide/start/initialise.js';
import type { StoredDocument } from '../../src/model/document.js';
import { flow, newJob, t0, task, world } from '../support/builders.js';

const order = {
  _id: 'j',
  type: 'job',
  flow: 'f',
  priority: 3,
  params: { a: { to: 'Ada', list: [1, 2] }, 'b-1': { deep: { x: 1 } } },
} as const;

/** The job as an engine stores it when it has begun it. */
function begun(written: object): StoredDocument {
  const flows = [flow(['a', 'b'], { params: { a: { from: 'flow' } } })];
  const tasks = [task('a', { params: { subject: 'task' } }), task('b')];
  const move = initialise(newJob(written as never), t0, world({ flows, tasks }));
  if (move.kind !== 'change') throw new Error(move.kind);
  return move.job;
}

const fresh = (written: object): StoredDocument => ({ _rev: '1-0', ...order, ...written });

describe('differencesOf', () => {
  it.each<readonly [string, StoredDocument, object]>([
    ['a new job', fresh({}), order],
    ['a job that an engine has begun', begun(order), order],
    ['an ended job', { ...begun(order), state: '$$complete', exit: 0 }, order],
    [
      'a job that somebody paused since',
      { ...begun(order), paused: true },
      { ...order, paused: false },
    ],
    ['a job of DEFAULT that says so', fresh({}), { ...order, owner: 'DEFAULT' }],
    ['one that does not say so', begun({ ...order, owner: 'DEFAULT' }), order],
    [
      'an ended job that lost its parameters',
      { _id: 'j', _rev: '9-0', type: 'job', flow: 'f', priority: 3, state: '$$complete' },
      order,
    ],
    [
      'tasks in another form',
      begun({ type: 'job', tasks: ['a', 'b'] }),
      { type: 'job', tasks: ['a', 'b'] },
    ],
    [
      'parameters by position',
      begun({ ...order, params: { tasks: { sequence: [{ to: 'Ada' }] } } }),
      { ...order, params: { tasks: { sequence: [{ to: 'Ada' }] } } },
    ],
  ])('finds none in %s', (_title, stored, written) => {
    expect(differencesOf(stored, written as Record<string, unknown>)).toEqual([]);
  });

  it.each<readonly [string, StoredDocument, object, readonly string[]]>([
    ['another flow', fresh({}), { ...order, flow: 'g' }, ['flow']],
    ['another key', begun(order), { ...order, priority: 4 }, ['priority']],
    ['another owner', fresh({ owner: 'acme' }), order, ['owner']],
    ['a key more', begun(order), { ...order, tags: ['x'] }, ['tags']],
    ['other parameters of a new job', fresh({}), { ...order, params: {} }, ['params']],
    ['other parameters', begun(order), { ...order, params: { a: { to: 'Bob' } } }, ['params.a.to']],
    ['a shorter list', begun(order), { ...order, params: { a: { list: [1] } } }, ['params.a.list']],
    [
      'other tasks',
      begun({ type: 'job', tasks: ['a', 'b'] }),
      { type: 'job', tasks: ['b', 'a'] },
      ['tasks'],
    ],
  ])('tells %s', (_title, stored, written, paths) => {
    expect(differencesOf(stored, written as Record<string, unknown>)).toEqual(paths);
  });
});
