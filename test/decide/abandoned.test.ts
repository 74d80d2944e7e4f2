import { describe, expect, it } from 'vitest';
import { abandoned } from '../../src/decide/abandoned.js';
import { newJob } from '../support/builders.js';
import { begun } from './story.js';

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
    expect(abandoned(before, after as never)).toEqual(ids);
  });

  it('are none of a job that is not live', () => {
    expect(abandoned(newJob(), before)).toEqual([]);
  });
});
