import { describe, expect, it } from 'vitest';
import type { Question } from '../../../src/decide/queries.js';
import { evaluate } from '../../../src/evaluate/expressions.js';
import { story, type Setting } from '../story.js';

/** Lets the story go on, with conditions evaluated for real. */
async function goOn(setting: Setting) {
  const told = story(setting);
  const asked: Question[] = [];
  for (;;) {
    const intent = told.go();
    if (intent.kind !== 'look_up') return { told, intent, asked };
    for (const question of intent.questions) {
      asked.push(question);
      const answer = await evaluate(question);
      if (answer.ok) told.answering({ [question.id]: answer.value });
      else told.with({ answers: { [question.id]: answer } });
    }
  }
}

describe('a condition', () => {
  // Shows F-13.
  it.each([
    ['begins the step when it is true', { when: 'true' }, ['a#1 $$active']],
    ['skips the step when it is false', { when: 'false' }, ['a#1 $$skipped', 'b#1 $$active']],
    [
      'skips the step when there is no value',
      { when: 'params.zzz' },
      ['a#1 $$skipped', 'b#1 $$active'],
    ],
    ['compares parameters of the step', { when: 'params.x = 1' }, ['a#1 $$active']],
    ['sees the job', { when: 'job.mine = "yes"' }, ['a#1 $$active']],
    ['sees the step', { when: 'step.path = "0" and step.task = "a"' }, ['a#1 $$active']],
    ['may be a guard', { guards: 'true' }, ['a#1 $$active']],
    [
      'may be one of many guards, all of which are true',
      { guards: ['true', 'true'] },
      ['a#1 $$active'],
    ],
    [
      'may be one of many guards, one of which is false',
      { guards: ['true', 'false'] },
      ['a#1 $$skipped', 'b#1 $$active'],
    ],
    ['joins guards', { when: 'true', guards: ['false'] }, ['a#1 $$skipped', 'b#1 $$active']],
    ['is not asked for when the list of guards is empty', { guards: [] }, ['a#1 $$active']],
  ])('%s', async (_title, conditions, trail) => {
    const { told } = await goOn({
      steps: [{ task: 'a', params: { x: 1 }, ...conditions }, 'b'],
      job: { mine: 'yes' },
    });
    expect(told.trail).toEqual(trail);
  });

  it.each([
    [1, true],
    [0, false],
    ['text', true],
    ['', false],
    [null, false],
    [[], false],
    [[0, ''], false],
    [[0, [1]], true],
    [{}, false],
    [{ x: 0 }, true],
  ])('takes the value %j for %s', (value, begins) => {
    const told = story({ steps: [{ task: 'a', when: 'x' }] }).answering({ '0.when': value });
    expect(told.go().kind).toBe(begins ? 'claim' : 'write');
    expect(told.last.state).toBe(begins ? '$$active' : '$$skipped');
  });

  it('sees the results of the steps before, by name and by position', async () => {
    const told = story({
      steps: ['a', { task: 'a', name: 'second' }, { task: 'b', when: 'true' }, 'c'],
    });
    told.go();
    told.done({ n: 1 });
    const intent = told.done({ n: 2 });
    expect(intent).toMatchObject({
      kind: 'look_up',
      questions: [
        {
          id: '2.when',
          context: {
            results: { a: { n: 1 }, 'a-0': { n: 1 }, second: { n: 2 }, 'a-1': { n: 2 } },
            parent_results: { 0: { n: 1 }, 1: { n: 2 } },
          },
        },
      ],
    });
  });

  it('fails the step with exit 3 and without a retry when it cannot be evaluated', async () => {
    const { told } = await goOn({ steps: [{ task: 'a', when: '$error("no")', retry: 5 }] });
    expect(told.trail).toEqual(['a#1 $$error']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ExpressionError' });
  });

  it('D8: ends nothing while the engine cannot evaluate it: the job is decided anew a second later', () => {
    const told = story({ steps: [{ task: 'a', when: 'x' }] });
    told.go();
    const unanswered = 'its thread could not be started: EAGAIN';
    expect(told.with({ unanswered }).decide()).toEqual({
      rule: 'unanswered',
      kind: 'wait',
      because: `${unanswered}. It is tried again.`,
      until: told.now + 1_000,
    });
    expect(told.trail).toEqual([]);
  });

  it('of a step of the cancel branch sees its parameters and all results', () => {
    const told = story({
      steps: ['a', 'b'],
      flow: {
        params: { a: { x: 1 } },
        cancel: { sequence: [{ task: 'a', params: { y: 2 }, when: 'params.y = 2' }] },
      },
    });
    told.go();
    told.done('done');
    told.edit({ cancel: true });
    expect(told.end({ kind: 'cancelled' })).toMatchObject({
      questions: [{ context: { params: { x: 1, y: 2 }, results: { a: 'done' } } }],
    });
  });

  it('asks nothing that was answered', () => {
    const told = story({ steps: [{ task: 'a', when: 'x', guards: ['y', 'z'] }] });
    told.answering({ '0.when': true, '0.guards[0]': true });
    expect(told.decide()).toMatchObject({ questions: [{ id: '0.guards[1]', expression: 'z' }] });
  });
});
