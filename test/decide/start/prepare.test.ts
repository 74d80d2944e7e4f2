import { describe, expect, it } from 'vitest';
import { inputOf } from '../../../src/decide/start/prepare.js';
import type { Phase } from '../../../src/model/step.js';
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
