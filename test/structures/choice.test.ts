import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../src/structures/kind.js';
import { begun, endings, story, type Story } from '../decide/story.js';

const choice = {
  choice: [
    { when: 'p', then: 'a' },
    { when: 'q', then: ['b', 'b2'] },
  ],
  default: 'c',
};
const asked = ['0.choice[0].when', '0.choice[1].when'] as const;

/** A story that chooses first, with the answers to both conditions, and then comes to `d`. */
function choosing(node: WrittenNode, p: unknown, q: unknown): Story {
  const told = story({ steps: [node, 'd'] }).answering({ [asked[0]]: p, [asked[1]]: q });
  told.go();
  return told;
}

describe('a choice', () => {
  // Shows X-05.
  it.each([
    ['the first case that holds', true, true, ['a']],
    ['a later case when those before do not hold', false, true, ['b']],
    ['the default when none holds', false, undefined, ['c']],
    ['by the truth of JSONata', [], { x: 1 }, ['b']],
    ['nothing for an empty text', '', '', ['c']],
  ])('takes %s', (_title, p, q, running) => {
    expect(choosing(choice, p, q).running).toEqual(running);
  });

  it('asks all its conditions at once', () => {
    const told = story({ steps: [choice] });
    const intent = told.decide();
    expect(intent).toMatchObject({
      kind: 'look_up',
      questions: asked.map((id) => ({ id, context: { step: { path: '0', name: 'choice' } } })),
    });
  });

  it('is done at once when no case holds and there is no default', () => {
    const { default: _none, ...without } = choice;
    const told = choosing(without, false, false);
    expect(told.steps[0]).toMatchObject({ path: '0', result: { chosen: null } });
    expect(told.running).toEqual(['d']);
  });

  it('keeps to what it took, whatever the conditions say later', () => {
    const told = choosing(choice, false, true)
      .answering({ [asked[0]]: true })
      .did('b');
    expect(told.running).toEqual(['b2']);
    expect(told.did('b2').running).toEqual(['d']);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('keeps to what it took in a further run of the flow', () => {
    const told = story({ steps: [choice], flow: { retry: 1 } });
    told.answering({ [asked[0]]: true, [asked[1]]: true }).go();
    told.answering({ [asked[0]]: false }).broke('a');
    expect(told.did('a').ending).toEqual(endings.well);
    expect(told.trail).toEqual(['choice#1 $$complete', 'a#1 $$error', 'a#2 $$complete']);
  });

  it('asks for what is behind the first true case in vain', () => {
    const told = story({ steps: [choice, 'd'] }).answering({ [asked[0]]: true });
    told.with({
      answers: { [asked[0]]: { ok: true, value: true }, [asked[1]]: { ok: false, reason: 'no' } },
    });
    told.go();
    expect(told.running).toEqual(['a']);
  });

  it('fails with exit 3 when a condition cannot be evaluated, and is not tried again', () => {
    const told = story({ steps: [choice, 'd'], flow: { retry: 3 } });
    told.with({ answers: { [asked[0]]: { ok: false, reason: 'no such thing' } } });
    told.answering({ [asked[1]]: true });
    told.with({
      answers: {
        [asked[0]]: { ok: false, reason: 'no such thing' },
        [asked[1]]: { ok: true, value: true },
      },
    });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ExpressionError' });
    expect(told.job).toMatchObject({
      failure: {
        step: 'choice',
        message: 'The condition in 0.choice[0].when cannot be evaluated: no such thing.',
      },
    });
  });

  it('sees the results before it', () => {
    const told = begun(['a', choice]).did('a', 5);
    expect(told.decide()).toMatchObject({
      questions: [{ context: { results: { a: 5 }, parent_results: { 0: 5 } } }, {}],
    });
  });

  it('of choices, nine deep, goes down to the one that was taken', () => {
    const nest = (depth: number): WrittenNode =>
      depth === 0 ? 'a' : { choice: [{ when: 'x', then: nest(depth - 1) }] };
    const paths = Array.from({ length: 9 }, (_, i) => `0${'.choice.0'.repeat(i)}`);
    const told = story({ steps: [nest(9), 'd'] });
    told.answering(Object.fromEntries(paths.map((path) => [`${path}.choice[0].when`, true]))).go();
    expect(told.open).toEqual([`0${'.choice.0'.repeat(9)}`]);
    expect(told.did('a').did('d').ending).toEqual(endings.well);
  });

  it('hands on the result of what was taken', () => {
    const told = choosing(
      [choice, { task: 'e', params: { x: '{{results.c}}' }, stdio: { n: 'n' } }],
      0,
      0,
    );
    told
      .answering({ '0.sequence.0.choice[0].when': false, '0.sequence.0.choice[1].when': false })
      .go();
    told.did('c', { n: 1 });
    expect(told.live.params).toEqual({ x: { n: 1 }, n: 1 });
  });

  it('may be optional, and stand at the root', () => {
    const tasks = { ...choice, default: undefined, optional: true };
    delete (tasks as { default?: unknown }).default;
    const told = story({ steps: [], flow: { tasks } });
    told.answering({ 'choice[0].when': false, 'choice[1].when': true }).go();
    expect(told.open).toEqual(['choice.1.sequence.0']);
    expect(told.broke('b').ending).toEqual(endings.well);
  });
});
