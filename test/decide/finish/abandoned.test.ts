import { describe, expect, it } from 'vitest';
import {
  abandoned,
  isCancelByParent,
  leftBy,
  uncancelled,
  withUncancelled,
  cancelOf,
  givenUp,
} from '../../../src/decide/finish/abandoned.js';
import type { GivenUp } from '../../../src/decide/intent.js';
import { newJob, t0 } from '../../support/builders.js';
import { begun } from '../story.js';

describe('the child jobs that a job gives up', () => {
  const told = begun([{ parallel: [{ flow: 'x' }, { delay: 5 }, { flow: 'y' }] }]);
  const before = told.liveJob;
  const [wait, x, y] = before.steps;
  const ended = (step: typeof x, state: string) => ({ ...step, state, end: 1, exit: 1 });

  it.each([
    ['none while their steps wait', before, []],
    [
      'those of steps that were cancelled',
      { ...before, steps: [wait, ended(x, '$$cancelled'), y] },
      ['j:0.parallel.0:1'],
    ],
    [
      'those of steps whose time was up',
      { ...before, steps: [wait, x, ended(y, '$$timeout')] },
      ['j:0.parallel.2:1'],
    ],
    [
      'none that have ended',
      { ...before, steps: [wait, ended(x, '$$complete'), ended(y, '$$error')] },
      [],
    ],
    ['none where the steps are gone', { ...before, state: '$$complete', steps: undefined }, []],
    ['none where the job is new again', newJob(), []],
  ])('are %s', (_title, after, ids) => {
    expect(abandoned(before, after as never).map(({ child }) => child)).toEqual(ids);
  });

  it('are none of a job that is not live', () => {
    expect(abandoned(newJob(), before)).toEqual([]);
  });

  it('are told by the attempt that waited, and the run of the child for which it waited', () => {
    const waiting = { ...x, child: 'c', attempt: 3, child_run: 2 };
    const after = { ...before, steps: [ended(waiting as never, '$$cancelled')] };
    const given = abandoned({ ...before, steps: [waiting] } as never, after as never);
    expect(given).toEqual([
      {
        ...{ child: 'c', attempt: 3, run: 2 },
        instead: {
          ...{ _id: 'c', type: 'job', flow: 'x', owner: 'DEFAULT' },
          parent: { job: 'j', step: '0.parallel.0', start: t0 },
          cancel: { reason: 'its parent job j does not need it any more' },
        },
      },
    ]);
  });
});

describe('a child that knows its parent by the start of a merged revision', () => {
  const child = { _id: 'c', run: 1, state: 'a-0', parent: { job: 'j', step: '0', start: 7 } };
  const parent = { _id: 'j', _rev: '3-a', type: 'job' as const, start: 5 };
  const step = { child: 'c', attempt: 1, path: '0', task: 'x' };
  const asked = (job: object) =>
    givenUp({ ...parent, ...job }, step).map((one) => cancelOf(one, child));

  it('is given up by it, and no other one is', () => {
    expect(asked({ also_started: [7] })).toMatchObject([{ kind: 'request' }]);
    expect(asked({ also_started: [8] })).toEqual([{ kind: 'none' }]);
    expect(asked({})).toEqual([{ kind: 'none' }]);
  });
});

describe('a job that cannot go on', () => {
  const done = { path: '0', name: 'a', state: '$$complete', end: 1, exit: 0, child: 'j:0:1' };
  const waits = { path: '2', name: 'c', state: '$$waiting', child: 'j:2:1', attempt: 1 };
  const doc = { _id: 'j', _rev: '7-x', type: 'job', steps: [done, waits, 'none', null] };

  it.each([
    [['j:2:1'], doc],
    [[], { ...doc, steps: [done, { ...waits, child: 5 }] }],
    [[], { ...doc, steps: 'none' }],
  ])('leaves the children %j', (children, job) => {
    expect(leftBy(job).map(({ child }) => child)).toEqual(children);
  });

  it('has the owner of its flow, where it names none', () => {
    const owned = leftBy({ ...doc, start: 5, flow_definition: { owner: 'me' } });
    expect(owned).toMatchObject([{ instead: { owner: 'me', parent: { start: 5 } } }]);
    expect(leftBy(doc)[0]?.instead).not.toHaveProperty('owner');
  });
});

describe('a job that cannot go on and is named by children', () => {
  const child = (start: unknown, more: object = {}) => ({
    ...{ _id: 'j:0:1', type: 'job', flow: 'f', run: 3 },
    parent: { job: 'j', step: '0', start },
    ...more,
  });
  const waits = { path: '0', name: 'c', state: '$$waiting', child: 'j:0:1', attempt: 4 };
  const before = { path: '1', name: 'd', state: '$$complete', accepted: 7 };

  it.each([
    ['leaves one of the same start', { start: 5 }, child(5), ['run-3']],
    ['leaves one where its start is no time', { start: 'none' }, child(5), ['run-3']],
    [
      'leaves one where its start is after a step',
      { start: 8, steps: [before] },
      child(5),
      ['run-3'],
    ],
    ['leaves one once that a step names', { start: 5, steps: [waits] }, child(5), [4]],
    ['leaves one that a step names', { start: '5', steps: [waits] }, child(5), [4]],
    ['leaves one without a run', { start: 5 }, child(5, { run: undefined }), ['run-1']],
    ['leaves none of a job before it', { start: 7, steps: [before, 'none'] }, child(5), []],
    ['leaves none that a user gave it', {}, child(undefined), []],
    ['leaves none of another job', { start: 5 }, child(5, { parent: { job: 'k', start: 5 } }), []],
    ['leaves none without a parent', { start: 5 }, child(5, { parent: 'none' }), []],
  ])('%s', (_title, job, there, attempts) => {
    const left = leftBy({ _id: 'j', ...job }, [there]);
    expect(left.map(({ attempt }) => attempt)).toEqual(attempts);
    for (const given of left) {
      expect(cancelOf(given, { ...there, state: 'a-0' })).toMatchObject({ kind: 'request' });
    }
  });
});

describe('a child that cannot be cancelled', () => {
  it('is told in its parent, once', () => {
    const [given] = leftBy({
      _id: 'j',
      steps: [{ path: '0', state: '$$waiting', child: 'j:0:1', attempt: 2 }],
    });
    const told = uncancelled(given as GivenUp, 'it is forbidden.');
    const parent = withUncancelled(newJob(), [told, told], t0);
    expect(parent).toEqual({
      ...newJob(),
      requests: [
        {
          ...{ id: 'request:j:0:1:parent:2', action: 'cancel', step: '0', at: t0 },
          reason: 'its parent job j does not need it any more',
          refused: 'Child job j:0:1 cannot be cancelled and may go on: it is forbidden.',
        },
      ],
    });
    expect(withUncancelled(parent, [], t0)).toBe(parent);
  });
});

describe('G1, G2, G3: the request that gives a child up', () => {
  const instead = {
    ...{ _id: 'c', type: 'job' as const, flow: 'f' },
    parent: { job: 'p', step: '0', start: 5 },
    cancel: { reason: 'it is not needed' },
  };
  const given: GivenUp = { child: 'c', attempt: 2, run: 2, instead };
  const { parent } = instead;
  const live = { _id: 'c', _rev: '4-c', state: 'a-0', run: 2, parent };
  const final = { ...live, state: '$$complete', run: 1 };
  const reason = 'its parent job p does not need it any more';
  const asked = { type: 'request', job: 'c', action: 'cancel', reason };

  it.each([
    ['makes one that is not there as a cancelled job', undefined, { kind: 'child', doc: instead }],
    [
      'asks one that has not ended, once for each attempt',
      live,
      { kind: 'request', doc: { ...asked, _id: 'request:c:parent:2' } },
    ],
    ['takes back the wish to go on', { ...final, retry: true }, { kind: 'child', doc: final }],
    ['is ahead of a wish to go on that is under way', final, { kind: 'child', doc: final }],
    ['is none where the run of the attempt is over', { ...final, run: 2 }, { kind: 'none' }],
    [
      'is handed on by one that goes on as another job',
      { ...final, run: 2, continued_to: 'c~3' },
      { kind: 'request', doc: { ...asked, _id: 'request:c:parent:2' } },
    ],
    ['is none where it never began', { ...final, run: undefined }, { kind: 'none' }],
    [
      'is none where it was made for another job',
      { ...live, parent: { ...parent, start: 4 } },
      { kind: 'none' },
    ],
  ])('%s', (_title, there, word) => {
    expect(cancelOf(given, there)).toEqual(word);
  });

  it.each([
    ['request:c:parent:2', true],
    ['request:c:parent', false],
    ['request:d:parent:2', false],
  ])('is told from other requests: %s', (id, is) => {
    expect(isCancelByParent('c', id)).toBe(is);
  });
});
