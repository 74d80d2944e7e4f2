import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../src/structures/kind.js';
import { t0, task } from '../support/builders.js';
import { begun, endings, type Story } from '../decide/story.js';

describe('a parallel', () => {
  // Shows C-09, F-02.
  it('begins its nodes at once, in one revision, and is done when all are', () => {
    const told = begun(['a', { parallel: ['b', 'c'] }, 'd']).did('a');
    expect(told.running).toEqual(['b', 'c']);
    expect(told.revisions).toBe(2);
    told.did('c');
    expect(told.running).toEqual(['b']);
    expect(told.did('b').running).toEqual(['d']);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('is done at once when there is nothing in it', () => {
    expect(begun([{ parallel: [] }, { parallel: [[]], join: 'any' }, 'a']).running).toEqual(['a']);
  });

  it('of parallels, ten deep, begins everything at once', () => {
    const nest = (depth: number): WrittenNode =>
      depth === 0 ? 'z' : { parallel: [`t${depth}`, nest(depth - 1)] };
    const told = begun([nest(10), 'end']);
    expect(told.running).toHaveLength(11);
    for (const task of told.running) told.did(task);
    expect(told.running).toEqual(['end']);
    expect(told.steps[10]?.path).toBe(`0${'.parallel.1'.repeat(10)}`);
  });

  // Shows C-11, C-18.
  it('takes as many as there are slots', () => {
    const told = begun([{ parallel: ['a', 'b', 'c'] }], { world: { freeSlots: 2 } });
    expect(told.running).toEqual(['a', 'b']);
    expect(told.with({ freeSlots: 0 }).decide()).toMatchObject({ kind: 'wait', for: 'slot' });
    told.with({ freeSlots: 1 }).did('a');
    expect(told.running).toEqual(['b', 'c']);
  });

  it('gives each node the results before it, not those beside it', () => {
    const told = begun([
      'a',
      { parallel: ['b', ['c', { task: 'd', params: { seen: '{{results}}' } }]] },
      { task: 'e', params: { group: '{{parent_results.[1]}}' }, stdio: { stdout: 'before' } },
    ]);
    told.did('a', 1).did('b', 2).did('c', 3);
    expect(told.liveAt('d').params).toEqual({ seen: { a: 1, 'a-0': 1, c: 3, 'c-2': 3 } });
    told.did('d', 4);
    expect(told.liveAt('e').params).toEqual({ group: { 0: 2, 1: 4 }, before: { 0: 2, 1: 4 } });
  });
});

describe('on_fail of a parallel', () => {
  // Shows F-02, X-09.
  it('lets the others end when it is wait, which is the default, and fails then', () => {
    for (const rule of [{}, { on_fail: 'wait' }]) {
      const told = begun([{ parallel: ['a', ['b', 'c']], ...rule }, 'd'])
        .broke('a')
        .did('b');
      expect(told.running).toEqual(['c']);
      expect(told.did('c').ending).toEqual(endings.badly);
      expect(told.trail).toEqual(['a#1 $$error', 'b#1 $$complete', 'c#1 $$complete']);
    }
  });

  // Shows X-09.
  it('cancels the others at once when it is cancel_rest', () => {
    const told = begun([{ parallel: ['a', ['b', 'c']], on_fail: 'cancel_rest' }]).broke('a');
    expect(told.decide()).toMatchObject({ kind: 'abort', claims: [told.live.claim] });
    expect(told.decide(told.job, { stopping: [told.live.claim] })).toMatchObject({ kind: 'wait' });
    expect(told.stopped().ending).toEqual(endings.badly);
    expect(told.trail).toEqual(['a#1 $$error', 'b#1 $$cancelled']);
  });

  it('tells the failure that was the reason, not that of what was cancelled because of it', () => {
    const told = begun([{ parallel: ['a', 'b'], on_fail: 'cancel_rest' }])
      .broke('b')
      .stopped();
    expect(told.trail).toEqual(['a#1 $$cancelled', 'b#1 $$error']);
    expect(told.ending).toEqual(endings.badly);
  });

  it('begins no handler of what is cancelled, and no further attempt', () => {
    const steps = [
      { parallel: [{ task: 'a', error: 'h', retry: 3 }, 'b'], on_fail: 'cancel_rest' },
    ];
    const told = begun(steps).broke('b').broke('a');
    expect(told.trail).toEqual(['a#1 $$error', 'b#1 $$error']);
    expect(told.ending).toEqual(endings.badly);
  });

  // Shows X-09.
  it('lets a failure count as an end when it is ignore', () => {
    const told = begun([{ parallel: ['a', 'b'], on_fail: 'ignore' }, 'c']).broke('a');
    expect(told.running).toEqual(['b']);
    told.broke('b');
    expect(told.running).toEqual(['c']);
    expect(told.did('c').ending).toEqual(endings.well);
  });
});

describe('join of a parallel', () => {
  const of = (join: unknown, more: object = {}): Story =>
    begun([{ parallel: ['a', ['b', 'x'], 'c'], join, ...more }, 'd']);

  it('goes on with the first success when it is any, while the others go on', () => {
    const told = of('any').did('c');
    expect(told.running).toEqual(['a', 'b', 'd']);
    told.did('b').broke('a').did('d');
    expect(told.running).toEqual(['x']);
    expect(told.did('x').ending).toEqual(endings.well);
  });

  // Shows F-04.
  it('starts what follows once, whatever succeeds later', () => {
    const told = of('any').did('c').did('a').did('b').did('x').did('d');
    expect(told.trail.filter((step) => step.startsWith('d'))).toEqual(['d#1 $$complete']);
    expect(told.ending).toEqual(endings.well);
  });

  it('goes on when so many succeeded as it is', () => {
    const told = of(2).did('a');
    expect(told.running).toEqual(['b', 'c']);
    expect(told.did('c').running).toEqual(['b', 'd']);
  });

  // Shows K-03.
  it.each([
    ['any', ['a', 'b', 'c'], endings.badly],
    [2, ['a', 'c'], undefined],
    [2, ['a', 'b'], undefined],
    [1, ['a', 'c'], undefined],
  ] as const)(
    'of %s fails when too many failed, and all have ended: %j',
    (join, broken, ending) => {
      const told = of(join);
      for (const task of broken) told.broke(task);
      if (ending !== undefined) expect(told.ending).toEqual(ending);
      else expect(told.job.state).not.toBe('$$complete');
    },
  );

  it('cancels the rest when cancel_rest says so', () => {
    const told = of('any', { cancel_rest: true }).did('c');
    expect(told.stopped().trail).toEqual([
      'a#1 $$cancelled',
      'b#1 $$cancelled',
      'c#1 $$complete',
      'd#1 $$active',
    ]);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('lets one of two races win, and cancels the other', () => {
    const race = {
      parallel: [{ wait: { signal: 's' } }, { delay: 1000 }],
      join: 'any',
      cancel_rest: true,
    };
    const timer = begun([race, 'd']).at(1000);
    timer.go();
    expect(timer.trail).toEqual(['wait#1 $$cancelled', 'delay#1 $$complete', 'd#1 $$active']);
    const signal = begun([race, 'd']).at(999).signal('s');
    expect(signal.trail).toEqual(['wait#1 $$complete', 'delay#1 $$cancelled', 'd#1 $$active']);
    expect(signal.steps[1]).toMatchObject({ failure: { name: 'NotNeeded' } });
  });

  it('counts at most the nodes that there are', () => {
    const told = begun([{ parallel: ['a', 'b'], join: 2 }, 'c']);
    told.edit({
      tasks: {
        ...told.liveJob.tasks,
        sequence: [{ structure: 'parallel', parallel: [{ task: 'a' }, { task: 'b' }], join: 9 }],
      },
    });
    expect(told.did('a').did('b').ending).toEqual(endings.well);
  });

  it('does not wait for what begins too late beside a flow that is done', () => {
    const told = begun([{ parallel: ['a', ['b', 'c']], join: 'any' }], { flow: { timeout: 1000 } });
    told.did('a').at(1000).did('b');
    expect(told.ending).toEqual(endings.well);
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$complete']);
  });
});

describe('an optional parallel', () => {
  it('counts as done when it fails', () => {
    const told = begun([{ parallel: ['a', 'b'], optional: true }, 'c'])
      .broke('a')
      .did('b');
    expect(told.did('c').ending).toEqual(endings.well);
  });
});

describe('a race of waits that is looked at late', () => {
  const signal = { wait: { signal: 's' }, name: 'signal' };
  const timer = { delay: 1000, name: 'timer' };
  const first = { join: 'any', cancel_rest: true } as const;
  const after = (name: string, more: object = {}) => ({ task: name, after: [name], ...more });
  const ends = (told: Story): readonly string[] =>
    told.steps.map(({ name, state }) => `${name} ${state}`);

  it('is won by what was there first, whatever is written first', () => {
    const told = begun([{ parallel: [signal, timer], ...first }, 'd']);
    told.at(2000).signal('s');
    expect(ends(told)).toEqual(['signal $$cancelled', 'timer $$complete', 'd $$active']);
  });

  it('is won by a signal that came before the time', () => {
    const told = begun([{ parallel: [timer, signal], ...first }, 'd']);
    told.edit({ signals: [{ id: 'x', name: 's', at: t0 + 500 }] }).at(2000);
    told.go();
    expect(ends(told)).toEqual(['timer $$cancelled', 'signal $$complete', 'd $$active']);
  });

  it('is won by a child that ended before the time', () => {
    const told = begun([{ parallel: [timer, { flow: 'inner', name: 'child' }], ...first }, 'd']);
    const job = { _id: 'j:0.parallel.1:1', _rev: '9-x', type: 'job', exit: 0 } as const;
    const child = { ...job, state: '$$complete', end: t0 + 500 } as const;
    told.with({ children: { [child._id]: { kind: 'final', job: child } } }).at(2000);
    told.go();
    expect(ends(told)).toEqual(['timer $$cancelled', 'child $$complete', 'd $$active']);
  });

  it('lets only the winner of a graph go on', () => {
    const graph = { signal, timer, x: after('signal'), y: after('timer') };
    const z = { task: 'z', after: ['signal', 'timer'], ...first };
    const told = begun([{ graph: { ...graph, z } }]);
    told.at(2000).signal('s');
    expect(told.running).toEqual(['timer', 'z']);
  });

  it('leaves out what stands behind the other wait of an outer race', () => {
    const inner = [{ parallel: [signal, timer], ...first }, 'x'];
    const told = begun([{ parallel: [inner, 'b'] }, 'd']);
    told.at(2000).signal('s');
    expect(ends(told)).toEqual([
      'signal $$cancelled',
      'timer $$complete',
      'b $$active',
      'x $$active',
    ]);
  });

  it('stops at the first failure of items, of which each may be the end of the others', () => {
    const timed = { wait: { signal: '{{item}}', timeout: 1000 } };
    const told = begun([{ map: { over: [1, 2], on_fail: 'cancel_rest', do: timed } }]);
    told.at(2000).go();
    expect(ends(told).slice(1)).toEqual(['wait $$timeout', 'wait $$cancelled']);
  });

  it('has one winner in a cancel branch, too', () => {
    const cancel = [{ parallel: [signal, timer], ...first }, 'c'];
    const told = begun(['a'], { flow: { cancel: { sequence: cancel } } });
    told.edit({ cancel: true }).stopped();
    told.at(2000).signal('s');
    expect(ends(told)).toEqual([
      'a $$cancelled',
      'signal $$cancelled',
      'timer $$complete',
      'c $$active',
    ]);
  });

  const waits = { wait: { signal: 'x', timeout: 1_000 } };
  const missing = task('nobody', { plugin: 'nowhere', accept_timeout: 1_000 });
  it.each([
    ['a wait that timed out', waits, 'WaitTimeout'],
    ['a step that nobody accepted', 'nobody', 'AcceptTimeout'],
  ])(
    'that cancels the rest ends with the cause, %s, before it stops what runs',
    (_title, cause, name) => {
      const told = begun([{ parallel: ['a', cause], on_fail: 'cancel_rest' }], {
        tasks: [missing],
        world: { plugins: ['a'] },
      });
      told.at(1_000);
      expect(told.go().kind).toBe('write');
      expect(told.running).toEqual(['a']);
      expect(told.steps).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({
            state: '$$timeout',
            failure: expect.objectContaining({ name }) as unknown,
          }),
        ]) as unknown[],
      );
      told.stopped();
      expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: name });
      expect(told.steps.find(({ task: of }) => of === 'a')).toMatchObject({ state: '$$cancelled' });
    },
  );
});
