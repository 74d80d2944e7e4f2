import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  completionOn,
  countedAt,
  isBusyBelow,
  jobSteps,
  lastAttempt,
  lastRunBelow,
} from '../../src/reading/attempts.js';
import { withNewStep, withStep } from '../../src/decide/steps.js';
import type { LiveJob } from '../../src/model/job.js';
import type { Step } from '../../src/model/step.js';
import { story } from '../decide/story.js';

function begun(): { readonly job: LiveJob; readonly step: Step } {
  const told = story({ steps: ['a', { structure: 'map', map: { over: [1, 2], do: 'b' } }] });
  told.go();
  const [step] = told.liveJob.steps as readonly [Step];
  return { job: told.liveJob, step };
}

const paths = ['', '0', '0.error', '1', '1.map.0', '1.map.3', '2'];

/** All that can be asked of the steps of a job, at some paths. */
function answers(job: LiveJob) {
  return paths.map((path) => ({
    attempts: attemptsOf(job, path),
    counted: countedAt(job, path),
    last: lastAttempt(job, path),
    completion: completionOn(job, path),
    run: lastRunBelow(job, path),
    numbers: jobSteps(job).numbersBelow(path),
    busy: isBusyBelow(job, path),
  }));
}

/** The same job in a copy of which nothing is known. */
const copyOf = (job: LiveJob): LiveJob => structuredClone(job);

describe('a list of steps that grows', () => {
  const { job, step } = begun();
  const ended = { ...step, state: '$$complete', end: 5, exit: 0 } as Step;
  const more: readonly (readonly [string, Step])[] = [
    ['another attempt', { ...step, attempt: 2 }],
    ['a handler', { ...ended, path: '0.error', phase: 'error' }],
    ['an item of a map', { ...step, path: '1.map.3' }],
    ['a step of an earlier run', { ...ended, path: '1.map.0', run: 0 }],
    ['a step that does not count', { ...ended, path: '2', run: 0 }],
  ];

  it.each(more)('is read as if it were new: %s', (_what, next) => {
    answers(job);
    const grown = withNewStep(job, next);
    expect(answers(grown)).toEqual(answers(copyOf(grown)));
    expect(answers(job)).toEqual(answers(copyOf(job)));
  });

  it('is read as if it were new after several steps, and after one is replaced', () => {
    let grown = job;
    for (const [, next] of more) {
      answers(grown);
      grown = withNewStep(grown, next);
    }
    expect(answers(grown)).toEqual(answers(copyOf(grown)));
    const replaced = withNewStep(withStep(grown, step, ended), { ...step, attempt: 3 });
    expect(answers(replaced)).toEqual(answers(copyOf(replaced)));
  });

  it('is read anew when what counts in it changes', () => {
    const later: LiveJob = { ...withNewStep(job, { ...step, run: 2 }), run: 2, first_run: 2 };
    answers(job);
    expect(answers(later)).toEqual(answers(copyOf(later)));
    const none: LiveJob = { ...job, first_run: 2 };
    answers(none);
    const uncounted = withNewStep(none, { ...step, attempt: 2 });
    expect(answers(uncounted)).toEqual(answers(copyOf(uncounted)));
  });

  it('does not change attempts that were asked for before', () => {
    const before = attemptsOf(job, '0');
    const known = [...before];
    attemptsOf(withNewStep(job, { ...step, attempt: 2 }), '0');
    expect(before).toEqual(known);
  });
});
