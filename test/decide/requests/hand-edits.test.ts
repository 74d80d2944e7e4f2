import { describe, expect, it } from 'vitest';
import {
  asEnded,
  withItsEnd,
  withoutAddedSteps,
  goneSteps,
  hasAddedStep,
  hasItsEnd,
  wasFinal,
  withFormerSteps,
} from '../../../src/decide/requests/hand-edits.js';
import type { FinalJob, Job, LiveJob } from '../../../src/model/job.js';
import { story } from '../story.js';

type Fields = Readonly<Record<string, unknown>>;

const stored = { _id: 'j', _rev: '3-x', type: 'job' } as const;
const step = { name: 'a', path: '0', attempt: 1, state: '$$complete', end: 2 };
const final = (fields: Fields) =>
  ({ ...stored, state: '$$complete', ...fields }) as unknown as FinalJob;

describe('a final job', () => {
  it.each([
    [{ exit: 0, steps: [] }, true],
    [{ exit: 3, failure: {} }, true],
    [{ exit: 0 }, false],
    [{ steps: [] }, false],
  ])('with %j is one that an engine may have ended: %s', (fields, whole) => {
    expect(hasItsEnd(fields)).toBe(whole);
  });

  it.each([
    [{}, { exit: 3, failure: { name: 'InvalidJob' }, steps: [] }, '"exit"'],
    [{ exit: 0 }, { exit: 3, steps: [] }, '"steps"'],
    [{ exit: 2 }, { exit: 2, steps: [] }, '"steps"'],
    [
      { steps: [step], failure: { name: 'X' } },
      { exit: 3, failure: { name: 'X' }, steps: [step] },
      '"exit"',
    ],
  ])('with %j alone gets what it lacks', (fields, whole, lacks) => {
    const told = withItsEnd(final(fields));
    expect(told).toMatchObject(whole);
    expect(hasItsEnd(told)).toBe(true);
    expect(told['problems']).toEqual([
      { path: 'state', message: expect.stringContaining(`it has no ${lacks}`) as string },
    ]);
  });

  // Shows D-10.
  it('loses steps that were added to its end, is told of them, and comes to rest', () => {
    const more = { name: 'b', path: '9', attempt: 1, state: '$$ready' };
    const job = final({ exit: 0, steps: [step, more, { ...more, path: '10' }] });
    expect(hasAddedStep(job)).toBe(true);
    const told = withoutAddedSteps(job);
    expect(told).toMatchObject({ exit: 0, steps: [step], problems: [{ path: 'steps' }] });
    expect(told['problems']).toMatchObject([
      { message: expect.stringContaining('b (9, attempt 1, $$ready), b (10,') as string },
    ]);
    expect(hasAddedStep(told)).toBe(false);
    expect(hasAddedStep({ steps: 'x' })).toBe(false);
    expect(hasAddedStep({ steps: [null] })).toBe(false);
  });

  it('is told of its mistake beside whatever stands in its "problems"', () => {
    const told = withItsEnd(final({ exit: 0, problems: [null, 'x', { message: 'y' }] }));
    expect(told['problems']).toHaveLength(4);
    expect(withItsEnd(told)['problems']).toHaveLength(4);
  });

  it.each([
    [0, '$$complete'],
    [130, '$$cancelled'],
  ])('with exit %i stays as it is when another state is written into it', (exit, state) => {
    const job = { ...stored, state: '$$ready', end: 1, exit, steps: [] } as unknown as LiveJob;
    expect(wasFinal(job)).toBe(true);
    expect(asEnded(job)).toMatchObject({ state, exit, end: 1 });
  });

  it.each([{ end: 1 }, { exit: 0 }, { end: 1, exit: 0, state: '$$complete' }])(
    'is not what %j is',
    (fields) => {
      expect(wasFinal({ ...stored, state: 'a-0', ...fields } as unknown as Job)).toBe(false);
    },
  );
});

describe('a decision', () => {
  it('takes a state back that was written into a final job, and comes to rest', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.edit({ state: '$$ready', end: 1, exit: 0 });
    expect(told.decide()).toMatchObject({ kind: 'write', rule: 'final' });
  });

  it('takes a step out that was added to a final job, and comes to rest', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.done();
    told.edit({ steps: [...told.steps, { ...told.steps[0], path: '9', end: undefined }] });
    expect(told.decide()).toMatchObject({ kind: 'write', job: { steps: [{ path: '0' }] } });
    told.go();
    expect(told.decide()).toMatchObject({ kind: 'ignore' });
  });

  it('completes a final job that no engine has ended', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.edit({ state: '$$complete', exit: undefined });
    expect(told.decide()).toMatchObject({ kind: 'write', job: { exit: 3 } });
  });
});

describe('a job whose state was taken out', () => {
  const begun = { ...stored, state: '$$ready' } as unknown as LiveJob;
  const told = (fields: Fields) => withFormerSteps({ ...stored, ...fields }, begun).problems;

  it('tells its former steps, the first ten by name', () => {
    expect(told({ steps: [step, null] })?.[0]?.message).toMatch(
      /It had a \(0, attempt 1, \$\$complete\), undefined \(/,
    );
    expect(told({ steps: Array(12).fill(step) })?.[0]?.message).toMatch(/ and 2 more\.$/);
  });

  it('tells nothing when it is a copy, or had no steps', () => {
    expect(told({ steps: [step], _rev: '1-x' })).toBeUndefined();
    expect(told({ steps: [] })).toBeUndefined();
    expect(told({})).toBeUndefined();
  });
});

describe('ended steps', () => {
  const before = { ...stored, state: 'a-0', run: 1, steps: [step, { ...step, end: undefined }] };

  // Shows D-05.
  it.each([
    ['kept', {}, false],
    ['with a note', { steps: [{ ...step, note: 1 }] }, false],
    ['removed', { steps: [] }, true],
    ['gone with the list', { steps: 'x' }, true],
    ['changed', { steps: [{ ...step, end: 3 }] }, true],
    ['no objects', { steps: [null] }, true],
    ['removed by a retry', { steps: [], run: 2 }, false],
    ['of what is no job now', { steps: [], type: 'note' }, false],
  ])('%s are told: %s', (_title, now, isTold) => {
    const problem = goneSteps(before, { ...before, ...now });
    expect(problem !== undefined).toBe(isTold);
  });

  it('are told only of a job that had some', () => {
    expect(goneSteps({ ...stored, state: 'a-0' }, { ...stored, state: 'a-0' })).toBeUndefined();
  });
});
