import { describe, expect, it } from 'vitest';
import { contextOfAttempt, inputOf } from '../../../src/decide/start/prepare.js';
import type { LiveJob } from '../../../src/model/job.js';
import type { LiveStep, Phase } from '../../../src/model/step.js';
import { leavesOf } from '../../../src/structures/tree.js';
import { story } from '../story.js';

describe('inputOf', () => {
  const told = story({
    steps: ['a', 'b', 'c'],
    flow: { params: { b: { x: 1 } } },
    job: { params: { 'b-1': { x: 2 } } },
  });
  told.go();
  told.done('first');
  told.done('second');

  const cases: readonly [string, Phase, object][] = [
    [
      'gives a step of the flow what came before it',
      'main',
      { params: { x: 2 }, results: { a: 'first', 'a-0': 'first' } },
    ],
    [
      'gives a handler everything',
      'error',
      { params: { x: 1 }, results: { a: 'first', b: 'second' } },
    ],
    ['gives the cancel branch everything', 'cancel', { params: { x: 1 }, previous: 'second' }],
  ];
  it.each(cases)('%s', (_title, phase, input) => {
    const [, leaf] = leavesOf(told.flow.tasks);
    if (leaf === undefined) throw new Error('The flow has no second step.');
    expect(inputOf(told.liveJob, { leaf, phase })).toMatchObject(input);
  });
});

describe('contextOfAttempt', () => {
  it('gives templates that are filled in for an attempt what the others saw, with its rendered parameters', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.done('first');
    const step = { ...told.steps[0], params: { x: 1 } } as LiveStep;
    const seen = { results: { a: 'first' }, parent_results: { 0: 'first' } };
    expect(contextOfAttempt(told.job as LiveJob, step, seen)).toEqual({
      job: told.job,
      step: { index: 0, path: '0', name: 'a', task: 'a', attempt: 1, run: 1, phase: 'main' },
      params: { x: 1 },
      ...seen,
    });
  });
});
