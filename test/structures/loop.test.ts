import { describe, expect, it } from 'vitest';
import { resultsBefore } from '../../src/reading/results.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { begun, endings, story, type Story } from '../decide/story.js';

/** Answers to the conditions before so many rounds at a path; then it is over. */
const rounds = (count: number, path = '0'): Record<string, unknown> =>
  Object.fromEntries(
    Array.from({ length: count + 1 }, (_, i) => [`${path}.loop.${i}.while`, i < count]),
  );

function looping(count: number, more: object = {}, rest: WrittenNode[] = ['d']): Story {
  const told = story({ steps: [{ loop: { while: 'w', max: 5, do: 'a', ...more } }, ...rest] });
  told.answering(rounds(count)).go();
  return told;
}

describe('a loop', () => {
  // Shows F-14, X-07.
  it('goes on while its condition holds, each round at a path of its own', () => {
    const told = looping(3).did('a', 1).did('a', 2).did('a', 3);
    expect(told.running).toEqual(['d']);
    expect(told.steps.filter(({ task }) => task === 'a').map(({ path }) => path)).toEqual([
      '0.loop.0',
      '0.loop.1',
      '0.loop.2',
    ]);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('may take no round at all', () => {
    expect(looping(0).running).toEqual(['d']);
  });

  it('takes as many rounds as max says when it has no condition', () => {
    const told = begun([{ loop: { max: 2, do: 'a' } }, 'd'])
      .did('a')
      .did('a');
    expect(told.running).toEqual(['d']);
  });

  // Shows X-07.
  it('fails when its condition still holds after its most rounds', () => {
    const told = looping(3, { max: 2 }).did('a').did('a');
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'LoopLimit' });
    expect(told.job).toMatchObject({
      failure: {
        step: 'loop',
        message: `The condition in 0.loop.2.while still holds after 2 rounds, the loop's "max".`,
      },
    });
  });

  it('fails with exit 3 when its condition cannot be evaluated', () => {
    const answers = { '0.loop.0.while': { ok: false as const, reason: 'no' } };
    const told = story({ steps: [{ loop: { while: 'w', max: 5, do: 'a' } }], world: { answers } });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ExpressionError' });
  });

  it('has a condition of its own, which sees only what is before it', () => {
    const loop = { loop: { max: 2, do: 'a' }, when: 'v' };
    const told = begun(['b', loop]).answering({ '1.when': true });
    expect(told.did('b', 7).running).toEqual(['a']);
    expect(resultsBefore(told.liveJob, '1').results).toEqual({ b: 7, 'b-0': 7 });
  });

  it('asks anew before each round, and sees what the round before brought', () => {
    const told = looping(1);
    const first = story({ steps: [{ loop: { while: 'w', max: 5, do: 'a' } }] }).decide();
    expect(first).toMatchObject({
      questions: [{ id: '0.loop.0.while', context: { round: 0, results: {} } }],
    });
    told.end({ kind: 'done', result: { left: 2 } });
    const asking = story({ steps: [{ loop: { while: 'w', max: 5, do: 'a' } }] });
    asking.answering({ '0.loop.0.while': true }).go();
    asking.did('a', { left: 2 });
    expect(asking.decide()).toMatchObject({
      questions: [{ id: '0.loop.1.while', context: { round: 1, results: { a: { left: 2 } } } }],
    });
  });

  it('is asked for each round even when a round needs no work', () => {
    const told = story({
      steps: [{ loop: { while: 'w', max: 5, do: { task: 'a', when: 'x' } } }, 'd'],
    });
    told.answering({ ...rounds(2), '0.loop.0.when': false, '0.loop.1.when': false }).go();
    expect(told.trail).toEqual([
      'loop#1 $$complete',
      'a#1 $$skipped',
      'loop#2 $$complete',
      'a#1 $$skipped',
      'loop#3 $$complete',
      'd#1 $$active',
    ]);
  });

  it('tells its steps the round, and gives each the result of the round before', () => {
    const each = [
      { task: 'a', params: { round: '{{round}}' }, stdio: { n: 'before' } },
      { task: 'b', params: { seen: '{{results.a}}' } },
    ];
    const fed = story({
      steps: [{ loop: { while: 'w', max: 5, do: each } }],
      job: { params: { n: 0 } },
    });
    fed.answering(rounds(2)).go();
    expect(fed.live.params).toEqual({ round: 0, before: 0 });
    fed.did('a', 'x');
    expect(fed.live.params).toEqual({ seen: 'x' });
    fed.did('b', { n: 5 });
    expect(fed.live.params).toEqual({ round: 1, before: 5 });
  });

  it('hands on the result of its last round', () => {
    const told = looping(2, {}, [
      { task: 'd', params: { a: '{{results.a}}', all: '{{parent_results}}' } },
    ]);
    told.did('a', 1).did('a', 2);
    expect(told.live.params).toEqual({ a: 2, all: { 0: 2 } });
  });

  it('ends with a round that failed', () => {
    const told = looping(5, { do: ['a', 'b'] })
      .did('a')
      .broke('b');
    expect(told.ending).toEqual(endings.badly);
  });

  it('goes on with the round that failed in a further run of the flow', () => {
    const told = story({ steps: [{ loop: { max: 3, do: ['a', 'b'] } }], flow: { retry: 1 } });
    told.go();
    told.did('a').did('b').did('a').broke('b');
    expect(told.open).toEqual(['0.loop.1.sequence.1']);
    told.did('b').did('a').did('b');
    expect(told.ending).toEqual(endings.well);
  });

  it('is asked once more in a further run when it came to its most rounds', () => {
    const told = story({ steps: [{ loop: { while: 'w', max: 1, do: 'a' } }], flow: { retry: 1 } });
    told.answering({ ...rounds(1), '0.loop.1.while': true }).go();
    told.did('a');
    expect(told.ending).toMatchObject({ failure: 'LoopLimit' });
    expect(told.trail).toEqual([
      'loop#1 $$complete',
      'a#1 $$complete',
      'loop#2 $$error',
      'loop#3 $$error',
    ]);
  });

  it('of loops, eight deep, counts each by itself', () => {
    const nest = (depth: number): WrittenNode =>
      depth === 0 ? 'a' : { loop: { max: depth > 6 ? 2 : 1, do: nest(depth - 1) } };
    const told = begun([nest(8), 'd']);
    for (let i = 0; i < 4; i += 1) told.did('a');
    expect(told.running).toEqual(['d']);
    const paths = told.steps
      .filter(({ task }) => task === 'a')
      .map(({ path }) => path.slice(0, 15));
    expect(paths).toEqual([
      '0.loop.0.loop.0',
      '0.loop.0.loop.1',
      '0.loop.1.loop.0',
      '0.loop.1.loop.1',
    ]);
  });

  it('lets go on what an earlier round left behind', () => {
    const each = { parallel: ['a', ['b', 'c']], join: 'any' };
    const told = begun([{ loop: { max: 2, do: each } }, 'd']).did('0.loop.0.parallel.0');
    expect(told.open).toEqual([
      '0.loop.0.parallel.1.sequence.0',
      '0.loop.1.parallel.0',
      '0.loop.1.parallel.1.sequence.0',
    ]);
    told.did('0.loop.0.parallel.1.sequence.0');
    expect(told.open).toContain('0.loop.0.parallel.1.sequence.1');
    told.did('0.loop.1.parallel.0');
    expect(told.running).toContain('d');
  });

  it('cancels what an earlier round does not need, also where that runs elsewhere', () => {
    const each = [{ parallel: ['a', 'b'], join: 'any', cancel_rest: true }];
    const told = begun([{ loop: { max: 2, do: each } }]).did('0.loop.0.sequence.0.parallel.0');
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    told.stopped();
    expect(told.open).toEqual(['0.loop.1.sequence.0.parallel.0', '0.loop.1.sequence.0.parallel.1']);
  });

  it('ends what is left of all its rounds when it fails', () => {
    const each = [{ parallel: ['a', 'b'], join: 'any' }, 'c'];
    const told = begun([{ parallel: [{ loop: { max: 2, do: each } }, 'z'] }]);
    told.did('a').did('c').did('a');
    told.broke('c').stopped();
    expect(told.running).toEqual(['z']);
  });

  it('with a decider in it keeps looking at earlier rounds', () => {
    const world = { plugins: ['x', 'd'] };
    const told = begun([{ loop: { max: 2, do: { decider: 'x' } } }, 'd'], { world });
    told.did('x', [{ schedule: 'a', id: 'a' }, { complete: 1 }]);
    expect(told.open).toEqual(['0.loop.1.decision.0']);
    told.did('x', { complete: 2 });
    expect(told.running).toEqual(['d']);
  });

  it('may be optional, and have a condition of its own', () => {
    const told = story({
      steps: [
        { loop: { max: 2, do: 'a' }, when: 'w' },
        { loop: { max: 2, do: 'b' }, optional: true, guards: ['g', 'h'] },
        'd',
      ],
    });
    told.answering({ '0.when': false, '1.guards[0]': true, '1.guards[1]': 1 }).go();
    expect(told.running).toEqual(['b']);
    expect(told.broke('b').running).toEqual(['d']);
  });
});
