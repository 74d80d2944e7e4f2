import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../src/structures/kind.js';
import { t0 } from '../support/builders.js';
import { begun, endings } from '../decide/story.js';

const calls = { on_success: 's', on_failure: 'f', on_complete: 'c' };
const all = { batch: ['a', 'b'], ...calls };

/** The callbacks that ran, in order. */
const called = (trail: readonly string[]): readonly string[] =>
  trail.filter((step) => /^[sfc]#/.test(step));

describe('the callbacks of a batch', () => {
  const outcomes: readonly [string, object, boolean, readonly string[]][] = [
    ['all succeeded', calls, true, ['s#1 $$complete', 'c#1 $$complete']],
    ['one failed', calls, false, ['f#1 $$complete', 'c#1 $$complete']],
    ['all succeeded, with on_complete alone', { on_complete: 'c' }, true, ['c#1 $$complete']],
    ['one failed, with on_complete alone', { on_complete: 'c' }, false, ['c#1 $$complete']],
    ['all succeeded, with on_failure alone', { on_failure: 'f' }, true, []],
    ['one failed, with on_success alone', { on_success: 's' }, false, []],
  ];
  // Shows F-07.
  it.each(outcomes)('are the right ones when %s', (_title, more, isGood, trail) => {
    const told = begun([{ batch: ['a', 'b'], ...more }, 'd']).did('b');
    if (isGood) told.did('a');
    else told.broke('a');
    while (told.running.length > 0 && told.running[0] !== 'd') told.did(told.running[0] as string);
    expect(called(told.trail)).toEqual(trail);
    if (isGood) expect(told.did('d').ending).toEqual(endings.well);
    else expect(told.ending).toEqual(endings.badly);
  });

  it('come after all jobs have ended, beside each other, before what is behind the batch', () => {
    const told = begun([all, 'd']).did('a');
    expect(told.running).toEqual(['b']);
    expect(told.did('b').running).toEqual(['s', 'c']);
    expect(told.steps.slice(2).map(({ phase, path }) => [phase, path])).toEqual([
      ['callback', '0.on_success'],
      ['callback', '0.on_complete'],
    ]);
    expect(told.did('c').running).toEqual(['s']);
    expect(told.did('s').running).toEqual(['d']);
  });

  it('wait for jobs that are being cancelled', () => {
    const told = begun([{ ...all, on_fail: 'cancel_rest' }]).broke('a');
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    expect(told.decide(told.job, { stopping: [told.live.claim] })).toMatchObject({ kind: 'wait' });
    expect(told.stopped().running).toEqual(['f', 'c']);
  });

  it('wait for what is left in a job that is done already, also before it begins again', () => {
    const b = { task: 'b', retry: { limit: 3, delay: 1000 } };
    const told = begun([{ batch: [{ parallel: ['a', b], join: 'any' }], ...calls }, 'd']);
    told.broke('b').did('a');
    expect(told.open).toEqual([]);
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1000 });
    told.at(1000).go();
    expect(told.running).toEqual(['b']);
    expect(told.did('b').running).toEqual(['s', 'c']);
    expect(told.did('s').did('c').running).toEqual(['d']);
  });

  it('do not wait for jobs that were never begun', () => {
    const batch = { batch: ['a', 'b', ['x', 'y']], on_fail: 'cancel_rest', ...calls };
    const told = begun([batch], { world: { freeSlots: 1 } });
    told.broke('a');
    expect(told.running).toEqual(['f']);
    expect(told.live.params).toEqual({});
  });

  it('see in parent_results just the jobs of the batch, wherever it stands', () => {
    const seen = { task: 'c', params: { all: '{{parent_results}}', x: '{{results.x}}' } };
    const told = begun(['x', 'y', 'z', { batch: ['a', 'b'], on_complete: seen }]);
    told.did('x', 'rx').did('y', 'ry').did('z', 'rz').did('b', 'rb').broke('a');
    const failure = { name: 'Broken', message: 'It is Broken.', step: 'a' };
    expect(told.live.params).toEqual({ all: { 0: { failure }, 1: 'rb' }, x: 'rx' });
  });

  // Shows G-02.
  it('see the results of all jobs, good and bad', () => {
    const seen = { task: 'c', params: { all: '{{parent_results}}' }, stdio: { stdout: 'before' } };
    const jobs = [
      'a',
      ['b', 'x'],
      { task: 'g', error: 'h' },
      { parallel: ['p', 'q'], name: 'pq' },
      { task: 'o', optional: true },
      { task: 'n', when: 'w' },
    ];
    const told = begun([{ batch: jobs, on_complete: seen }]);
    told.answering({ '0.batch.5.when': false }).go();
    told.did('a', 1).did('b', 2).broke('x').broke('g').did('h', 3).did('p', 4).did('q', 5);
    told.broke('o');
    const failure = { name: 'Broken', message: 'It is Broken.' };
    const results = {
      0: 1,
      1: { failure: { ...failure, step: 'x' } },
      2: 3,
      3: { 0: 4, 1: 5 },
      4: { failure: { ...failure, step: 'o' } },
      5: null,
    };
    expect(told.live.params).toEqual({ all: results, before: results });
  });

  it('may be structures, in which every entry sees what is before it', () => {
    const callback: WrittenNode = [
      'c1',
      { task: 'c2', params: { jobs: '{{parent_results.[0]}}', first: '{{results.c1}}' } },
    ];
    const told = begun([{ batch: ['a'], on_complete: callback }])
      .did('a', 1)
      .did('c1', 2);
    expect(told.live).toMatchObject({ phase: 'callback', params: { jobs: 1, first: 2 } });
    expect(told.did('c2').ending).toEqual(endings.well);
  });

  it('are tried again by their policy, and once more when their engine is lost', () => {
    const told = begun([{ batch: ['a'], on_complete: { task: 'c', retry: 1 } }])
      .did('a')
      .broke('c');
    told.restart();
    told.did('c');
    expect(called(told.trail)).toEqual(['c#1 $$error', 'c#2 $$error', 'c#3 $$complete']);
    expect(told.ending).toEqual(endings.well);
  });

  it('are not called again in a further run of the flow', () => {
    const told = begun([{ batch: ['a', 'b'], ...calls }], { flow: { retry: 1 } });
    told.did('b').broke('a').did('f').did('c');
    expect(told.running).toEqual(['a']);
    told.did('a').did('s');
    expect(called(told.trail)).toEqual(['f#1 $$complete', 'c#1 $$complete', 's#1 $$complete']);
    expect(told.ending).toEqual(endings.well);
  });

  it('that failed are called again in a further run of the flow', () => {
    const told = begun([all], { flow: { retry: 1 } })
      .did('a')
      .did('b')
      .broke('s')
      .did('c');
    expect(told.running).toEqual(['s']);
    expect(told.did('s').ending).toEqual(endings.well);
  });
});

describe('a batch', () => {
  it('fails when a callback fails, after the others', () => {
    for (const broken of ['s', 'c']) {
      const told = begun([all, 'd']).did('a').did('b');
      for (const task of ['s', 'c']) {
        if (task === broken) told.broke(task);
        else told.did(task);
      }
      expect(called(told.trail)).toHaveLength(2);
      expect(told.ending).toEqual(endings.badly);
    }
  });

  it('fails with the failure of its job when a callback failed, too', () => {
    const told = begun([all]).broke('a', 'Worse').did('b').broke('f').did('c');
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Worse' });
  });

  it('fails when a callback ends with an exit of its own', () => {
    const told = begun([{ batch: ['a'], on_complete: 'c' }]).did('a');
    told.done(undefined, 7);
    expect(told.ending).toEqual({ state: '$$complete', exit: 7, failure: 'ExitSet' });
  });

  it('is done whatever failed when on_fail is ignore', () => {
    const told = begun([{ ...all, on_fail: 'ignore' }, 'd'])
      .broke('a')
      .broke('b')
      .did('f')
      .did('c');
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('of nothing calls back at once', () => {
    const told = begun([{ batch: [], ...calls }]).did('s');
    expect(told.did('c').ending).toEqual(endings.well);
  });

  // Shows F-08.
  it('of batches, eight deep, calls back from the inside out', () => {
    const nest = (depth: number): WrittenNode => ({
      batch: depth === 1 ? ['a'] : [nest(depth - 1)],
      on_complete: `c${depth}`,
    });
    const told = begun([nest(8)]).did('a');
    for (let depth = 1; depth <= 8; depth += 1) {
      expect(told.running).toEqual([`c${depth}`]);
      told.did(`c${depth}`);
    }
    expect(told.ending).toEqual(endings.well);
  });

  it('in the cancel branch calls back like any step of that branch', () => {
    const cancel = {
      batch: ['u', 'v'],
      on_failure: 'w',
      on_complete: { task: 'x', params: { all: '{{results}}' } },
    };
    const told = begun([['a', 'b']], { flow: { cancel } }).did('a', 1);
    told.edit({ cancel: true }).stopped().did('u', 2).broke('v').did('w', 3);
    expect(told.live).toMatchObject({
      phase: 'cancel',
      path: 'cancel.on_complete',
      params: { all: { a: 1, u: 2 } },
    });
    told.did('x');
    expect(told.job.state).toBe('$$cancelled');
  });
});
