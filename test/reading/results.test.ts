import { describe, expect, it } from 'vitest';
import { allResults, resultsAround, resultsBefore } from '../../src/reading/results.js';
import { flow, liveJob } from '../support/builders.js';
import { begun, story } from '../decide/story.js';

/** `a` is recovered by `h`, `b` fails but may, `a` again has no result, `c` runs. */
function eventful() {
  const told = story({
    steps: [{ task: 'a', error: 'h' }, { task: 'b', optional: true }, ['a'], 'c'],
  });
  told.go();
  told.fail();
  told.done('recovered');
  told.fail();
  told.done();
  return told;
}

describe('the results before a step', () => {
  const job = eventful().liveJob;

  // Shows G-01, G-02.
  it('go by name, by step key and by position', () => {
    expect(resultsBefore(job, '3')).toEqual({
      results: { a: null, 'a-0': 'recovered', 'a-2': null },
      parent_results: { 0: 'recovered', 2: null },
      previous: null,
      missing: [],
    });
  });

  it.each([
    ['0', undefined],
    ['1', 'recovered'],
    ['2.sequence.0', 'recovered'],
    ['3', null],
    ['3.error', null],
  ])('at %s end with what was done last', (path, previous) => {
    expect(resultsBefore(job, path).previous).toEqual(previous);
  });

  it('are none for a path that is nowhere', () => {
    const lone = liveJob(
      flow([{ parallel: ['a'] }, { graph: { n: 'b' } }, { map: { over: [], do: 'c' } }]),
    );
    for (const path of ['0.parallel.7', '1.graph.x', '2.map.x', '2', '0.choice.1', 'x.y']) {
      expect(resultsBefore(lone, path)).toMatchObject({ results: {}, previous: undefined });
    }
  });
});

describe('all results', () => {
  it('are those of the whole flow', () => {
    const told = eventful();
    told.done('last');
    const job = { ...told.job } as never;
    expect(allResults(job, new Map())).toMatchObject({
      parent_results: { 3: 'last' },
      previous: 'last',
    });
  });

  it('of a group stand at the position of its first entry, keyed by number or name', () => {
    const told = begun([
      'a',
      { parallel: [['b', 'c'], { graph: { x: 'd', y: { task: 'e', after: ['x'] } } }] },
      'f',
    ]);
    told.did('a', 1).did('b', 2).did('c', 3).did('d', 4).did('e', 5);
    expect(allResults(told.liveJob, new Map()).parent_results).toEqual({
      0: 1,
      1: { 0: 3, 1: { x: 4, y: 5 } },
    });
  });

  it('have nothing of a group in which nothing was done', () => {
    const told = begun([{ parallel: ['a', 'b'], on_fail: 'ignore' }, 'c'])
      .broke('a')
      .broke('b');
    expect(allResults(told.liveJob, new Map())).toEqual({
      results: {},
      parent_results: {},
      previous: undefined,
      missing: [],
    });
  });

  it('take what a case brought that was taken, the default too, and nothing of others', () => {
    const node = { choice: [{ when: 'x', then: 'a' }], default: 'b' };
    for (const [answer, name] of [
      [true, 'a'],
      [false, 'b'],
    ] as const) {
      const told = story({ steps: [node, 'c'] }).answering({ '0.choice[0].when': answer });
      told.go();
      told.did(name, 'r');
      expect(allResults(told.liveJob, new Map()).results[name]).toBe('r');
    }
    const none = story({ steps: [{ choice: [{ when: 'x', then: 'a' }] }, 'c'] });
    none.answering({ '0.choice[0].when': false }).go();
    expect(allResults(none.liveJob, new Map()).results).toEqual({});
  });

  it('have nothing at a position for a group without entries, and nothing of a loop without rounds', () => {
    const steps = [{ parallel: [] }, { loop: { while: 'w', max: 2, do: 'a' } }, 'b', 'c'];
    const told = story({ steps }).answering({ '1.loop.0.while': false });
    told.go();
    expect(allResults(told.did('b', 1).liveJob, new Map())).toMatchObject({
      results: { b: 1, 'b-1': 1 },
      parent_results: { 1: 1 },
    });
  });

  it('of a decider are nothing before it has completed', () => {
    const told = begun([{ decider: 'd' }], { world: { plugins: ['d'] } });
    expect(allResults(told.liveJob, new Map()).results).toEqual({});
  });

  it('of a decider are what it completed with', () => {
    const told = begun([{ decider: 'd' }, 'c'], { world: { plugins: ['d', 'c'] } });
    told.did('d', { complete: { n: 1 } });
    expect(allResults(told.liveJob, new Map())).toMatchObject({
      results: { d: { n: 1 } },
      previous: { n: 1 },
    });
  });

  it('have a list for each entry in a map, also in another', () => {
    const steps = [{ map: { over: [1, 2], do: { map: { over: [1], do: 'a' } } } }, 'b'];
    const told = begun(steps).did('0.map.0.map.0', 'x').did('0.map.1.map.0', 'y');
    expect(allResults(told.liveJob, new Map())).toMatchObject({
      results: { a: [['x'], ['y']] },
      parent_results: { 0: [['x'], ['y']] },
    });
  });
});

describe('the results around what follows a failure or a cancel', () => {
  it('are all, with those of the own item and round instead of their lists', () => {
    const each = ['a', { loop: { max: 2, do: 'b' } }, 'c'];
    const told = begun(['z', { map: { over: [1, 2], do: each } }]).did('z', 0);
    for (const i of [0, 1]) {
      told.did(`1.map.${i}.sequence.0`, `a${i}`);
      told.did(`1.map.${i}.sequence.1.loop.0`, `b${i}.0`);
      told.did(`1.map.${i}.sequence.1.loop.1`, `b${i}.1`);
    }
    told.did('1.map.0.sequence.2', 'c0');
    const job = told.liveJob;
    const { results } = resultsAround(job, '1.map.1.sequence.1.loop.0.undo');
    expect(results).toMatchObject({ z: 0, a: 'a1', b: 'b1.0' });
    expect(resultsAround(job, '1.map.0.sequence.0.undo')).toMatchObject({
      results: { z: 0, a: 'a0', b: 'b0.1', c: 'c0' },
      parent_results: { 0: 0, 1: ['c0', 'b1.1'] },
    });
    expect(resultsAround(job, 'error').results).toMatchObject({ a: ['a0', 'a1'] });
  });

  // Shows G-07.
  it('in the cancel branch are also those of what was done in it before', () => {
    const cancel = ['u', { map: { over: [1, 2], do: ['v', 'w'] } }];
    const told = begun([['a', 'b']], { flow: { cancel } }).did('a', 1);
    told.edit({ cancel: true }).stopped().did('u', 2).did('cancel.sequence.1.map.0.sequence.0', 3);
    expect(resultsAround(told.liveJob, 'cancel.sequence.1.map.0.sequence.1')).toEqual({
      results: { a: 1, 'a-0': 1, u: 2, 'u-0': 2, v: 3, 'v-1': 3 },
      parent_results: { 0: 1 },
      previous: 3,
      missing: [],
    });
  });

  it('in the cancel branch have no positions for groups of it', () => {
    const cancel = [{ parallel: ['u', 'v'] }, 'w'];
    const told = begun([['a', 'b']], { flow: { cancel } }).did('a', 1);
    told.edit({ cancel: true }).stopped().did('u', 2).did('v', 3);
    expect(resultsAround(told.liveJob, 'cancel.sequence.1')).toMatchObject({
      results: { a: 1, u: 2, v: 3 },
      parent_results: { 0: 1 },
    });
  });

  it('are those of the flow where somebody took away its cancel branch', () => {
    const told = begun(['a', 'b']).did('a', 1);
    expect(resultsAround(told.liveJob, 'cancel.sequence.0').results).toMatchObject({ a: 1 });
    expect(resultsAround(told.liveJob, '7.map.0').results).toMatchObject({ a: 1 });
  });
});
