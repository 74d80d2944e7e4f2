import { describe, expect, it } from 'vitest';
import { endInvalid, endRefused, endUnbegun, finish } from '../../../src/decide/finish/finish.js';
import { failure } from '../../../src/model/failures.js';
import { flow, frozen, liveJob, newJob, t0 } from '../../support/builders.js';

const why = failure('FlowMissing', { flow: 'f', owner: 'o' });

describe('finish', () => {
  const job = frozen(
    liveJob(flow(['a']), {
      next_due: t0,
      resume_at: t0,
      held_since: t0,
      held_ms: 3,
      mine: 'kept',
    } as object),
  );

  // Shows D-03.
  it('sets state, end, exit and result', () => {
    const final = finish(job, { exit: 0, result: { x: 1 } }, t0 + 5);
    expect(final).toMatchObject({ state: '$$complete', end: t0 + 5, exit: 0, result: { x: 1 } });
    expect(final).not.toHaveProperty('failure');
  });

  it('sets the failure, and the state of a cancelled job', () => {
    const final = finish(job, { state: '$$cancelled', exit: 130, failure: why }, t0);
    expect(final).toMatchObject({ state: '$$cancelled', exit: 130, failure: why });
    expect(final).not.toHaveProperty('result');
  });

  it('takes the waiting times away and keeps every other key', () => {
    const final = finish(job, { exit: 0 }, t0);
    for (const key of ['next_due', 'resume_at', 'held_since'])
      expect(final).not.toHaveProperty(key);
    expect(final).toMatchObject({ held_ms: 3, mine: 'kept', definitions: job.definitions });
  });
});

describe('endRefused', () => {
  it('ends a job with exit 3, keeps its history and says what the database said', () => {
    const job = frozen({ ...liveJob(flow(['a'])), start: t0 - 5 });
    const refused = failure('StoreRefused', { reason: 'It is too large.' });
    expect(endRefused(job, refused, t0)).toEqual({
      ...job,
      state: '$$complete',
      start: t0 - 5,
      end: t0,
      exit: 3,
      failure: refused,
      steps: [],
    });
  });
});

describe('endUnbegun', () => {
  // Shows D-03.
  it.each([
    [3, '$$complete'],
    [130, '$$cancelled'],
  ])('ends with exit %i in state %s, without steps', (exit, state) => {
    const job = frozen(newJob({ params: { x: 1 }, mine: 'kept' }));
    expect(endUnbegun(job, t0, { exit, failure: why })).toEqual({
      ...job,
      state,
      start: t0,
      end: t0,
      exit,
      failure: why,
      steps: [],
    });
  });

  it('lists the problems', () => {
    const problems = [{ path: 'a', message: 'a is wrong.' }];
    expect(endUnbegun(newJob(), t0, { exit: 3, failure: why, problems })).toMatchObject({
      problems,
    });
  });
});

describe('endInvalid', () => {
  const problem = { path: 'flow', message: 'flow must be a name.' };

  it('ends a job that cannot be read and names the first problem', () => {
    const doc = frozen({ _id: 'j', _rev: '1-x', type: 'job', flow: 7, mine: 'kept' });
    expect(endInvalid(doc, [problem, { ...problem, path: 'x' }], t0)).toMatchObject({
      ...doc,
      state: '$$complete',
      exit: 3,
      start: t0,
      steps: [],
      failure: { name: 'InvalidJob', message: expect.stringContaining('1 more') as string },
      problems: [problem, { path: 'x' }],
    });
  });

  it.each([
    [
      'keeps start and steps that were there',
      { start: 5, steps: [{ x: 1 }] },
      { start: 5, steps: [{ x: 1 }] },
    ],
    [
      'replaces start and steps that are none',
      { start: 'soon', steps: 'many' },
      { start: t0, steps: [] },
    ],
  ])('%s', (_title, had, has) => {
    expect(endInvalid({ _id: 'j', _rev: '1-x', ...had }, [problem], t0)).toMatchObject(has);
  });
});

describe('a job that cannot go on', () => {
  const done = { path: '0', name: 'a', state: '$$complete', end: 1, exit: 0 };
  const runs = { path: '1', name: 'b', state: '$$active', claim: 'c' };
  const waits = { path: '2', name: 'c', state: '$$waiting', child: 'j:2:1' };
  const doc = { _id: 'j', _rev: '7-x', type: 'job', steps: [done, runs, waits, 'none', null] };
  const problem = { path: 'params', message: 'params must be an object.' };

  it.each([
    ['is refused', endRefused(doc, why, t0)],
    ['cannot be read', endInvalid(doc, [problem], t0)],
  ])('ends with what runs or waits in it when it %s', (_title, ended) => {
    const how = { state: '$$cancelled', end: t0, exit: 130, failure: { name: 'Cancelled' } };
    const [first, second, third, ...rest] = ended.steps as readonly unknown[];
    expect(first).toEqual(done);
    expect(second).toMatchObject({ ...runs, ...how });
    expect(third).toMatchObject({ ...waits, ...how });
    expect(rest).toEqual(['none', null]);
  });
});
