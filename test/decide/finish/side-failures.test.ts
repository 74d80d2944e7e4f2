import { describe, expect, it } from 'vitest';
import type { FinalJob } from '../../../src/model/job.js';
import { begun, type Story } from '../story.js';

const problemsOf = (told: Story): unknown => (told.job as FinalJob)['problems'];

describe('what failed beside the flow is told in the problems of the final job:', () => {
  it('an undo task', () => {
    const told = begun([{ task: 'a', undo: 'u' }, 'b'])
      .did('a')
      .broke('b', 'Cause');
    told.broke('u');
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Cause' });
    expect(problemsOf(told)).toEqual([
      {
        path: 'steps[2].failure',
        message: 'Undoing a step failed: step u (0.undo): It is Broken.',
      },
    ]);
  });

  it('the handler of a step, and that of the flow', () => {
    const told = begun([{ task: 'a', error: 'h' }], { flow: { error: 'i' } });
    told.broke('a', 'Cause').broke('h').broke('i');
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Cause' });
    expect(problemsOf(told)).toEqual([
      {
        path: 'steps[1].failure',
        message: 'Handling a failure failed: step h (0.error): It is Broken.',
      },
      {
        path: 'steps[2].failure',
        message: 'Handling a failure failed: step i (error): It is Broken.',
      },
    ]);
  });

  it('a callback of a batch that is optional', () => {
    const told = begun([{ batch: ['a'], on_complete: 'c', optional: true }, 'b']);
    told.did('a').broke('c').did('b');
    expect(told.ending).toMatchObject({ exit: 0 });
    expect(problemsOf(told)).toMatchObject([{ path: 'steps[1].failure' }]);
  });

  it('not what is the failure of the job, was tried again, or recovered', () => {
    const batch = { batch: ['a'], on_complete: { task: 'c', retry: 1, error: 'h' } };
    const told = begun([batch]).did('a').broke('c').broke('c').did('h');
    expect(problemsOf(told)).toBeUndefined();
    const failed = begun([{ batch: ['a'], on_complete: 'c' }])
      .did('a')
      .broke('c');
    expect(failed.ending).toMatchObject({ exit: 2, failure: 'Broken' });
    expect(problemsOf(failed)).toBeUndefined();
  });

  it('not what a later run has made good', () => {
    const told = begun([{ task: 'a', error: 'h' }], { job: { params: { stray: 1 } } });
    told.broke('a').broke('h');
    expect(problemsOf(told)).toHaveLength(2);
    told.ask('retry').did('a');
    expect(told.ending).toMatchObject({ exit: 0 });
    expect(problemsOf(told)).toMatchObject([{ path: 'params.stray' }]);
  });
});
