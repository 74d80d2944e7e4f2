import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../../src/model/written-tree.js';
import { story, type Setting, type Story } from '../story.js';

/** A job with these steps that has just begun, with slots to spare. */
function begun(steps: WrittenNode[], more: Partial<Setting> = {}): Story {
  const it = story({ steps, ...more, world: { freeSlots: 100, ...more.world } });
  it.go();
  return it;
}

const ended = { state: '$$complete', exit: 0, failure: undefined };
const failed = { state: '$$complete', exit: 2, failure: 'Broken' };

describe('parallel', () => {
  it('begins its nodes at once and is done when all are', () => {
    const it = begun(['a', { parallel: ['b', 'c'] }, 'd']).did('a');
    expect(it.running).toEqual(['b', 'c']);
    expect(it.revisions).toBe(2);
    it.did('c');
    expect(it.running).toEqual(['b']);
    it.did('b');
    expect(it.running).toEqual(['d']);
    expect(it.did('d').ending).toEqual(ended);
  });

  it('lets the others end when one failed, and fails then', () => {
    const it = begun([{ parallel: ['a', ['b', 'c']] }, 'd'])
      .broke('a')
      .did('b');
    expect(it.running).toEqual(['c']);
    expect(it.did('c').ending).toEqual(failed);
    expect(it.trail).toEqual(['a#1 $$error', 'b#1 $$complete', 'c#1 $$complete']);
  });

  it('cancels the others at once with on_fail cancel_rest', () => {
    const it = begun([{ parallel: ['a', ['b', 'c']], on_fail: 'cancel_rest' }]).broke('a');
    expect(it.decide()).toMatchObject({ kind: 'abort', claims: [it.live.claim] });
    expect(it.decide(it.job, { stopping: [it.live.claim] })).toMatchObject({ kind: 'wait' });
    it.end({ kind: 'cancelled' });
    expect(it.ending).toEqual(failed);
    expect(it.trail).toEqual(['a#1 $$error', 'b#1 $$cancelled']);
  });

  it('goes on with the first success when one is enough, while the others go on', () => {
    const it = begun([{ parallel: ['a', ['b', 'x'], 'c'], join: 'any' }, 'd']).did('c');
    expect(it.running).toEqual(['a', 'b', 'd']);
    it.did('b').broke('a').did('d');
    expect(it.running).toEqual(['x']);
    expect(it.did('x').ending).toEqual(ended);
  });

  it('cancels the rest when one is enough and cancel_rest says so', () => {
    const it = begun([
      { parallel: [{ wait: { signal: 's' } }, { delay: 1000 }], join: 'any', cancel_rest: true },
      'd',
    ]);
    expect(it.trail).toEqual(['wait#1 $$waiting', 'delay#1 $$waiting']);
    it.at(1000).go();
    expect(it.trail).toEqual(['wait#1 $$cancelled', 'delay#1 $$complete', 'd#1 $$active']);
    expect(it.did('d').ending).toEqual(ended);
  });

  it('takes as many as there are slots', () => {
    const it = begun([{ parallel: ['a', 'b', 'c'] }], { world: { freeSlots: 2 } });
    expect(it.running).toEqual(['a', 'b']);
    expect(it.with({ freeSlots: 0 }).decide()).toMatchObject({ kind: 'wait', for: 'slot' });
    it.with({ freeSlots: 1 }).did('a');
    expect(it.running).toEqual(['b', 'c']);
  });
});

describe('batch', () => {
  const batch = { batch: ['a', 'b'], on_success: 's', on_failure: 'f', on_complete: 'c' };

  it('calls on_success and on_complete when all succeeded', () => {
    const it = begun([batch, 'd']).did('a', 1).did('b', 2);
    expect(it.running).toEqual(['s']);
    it.did('s');
    expect(it.running).toEqual(['c']);
    it.did('c');
    expect(it.running).toEqual(['d']);
    expect(it.did('d').ending).toEqual(ended);
  });

  it('calls on_failure and on_complete when one failed, and fails', () => {
    const it = begun([batch, 'd']).broke('a').did('b').did('f').did('c');
    expect(it.ending).toEqual(failed);
  });
});

describe('graph', () => {
  const graph = {
    graph: {
      extract: 'e',
      one: { task: 'x', after: ['extract'] },
      two: { task: 'y', after: ['extract'] },
      load: { task: 'l', after: ['one', 'two'] },
    },
  };

  it('begins each node after those it names', () => {
    const it = begun([graph]).did('e');
    expect(it.running).toEqual(['x', 'y']);
    it.did('y');
    expect(it.running).toEqual(['x']);
    it.did('x');
    expect(it.running).toEqual(['l']);
    expect(it.did('l').ending).toEqual(ended);
    expect(it.steps.map(({ path }) => path)).toEqual([
      '0.graph.extract',
      '0.graph.one',
      '0.graph.two',
      '0.graph.load',
    ]);
  });

  it('never begins what comes after a failure', () => {
    const it = begun([graph]).did('e').broke('x').did('y');
    expect(it.ending).toEqual(failed);
  });

  it('begins once after any of several, and cancels the rest when told', () => {
    const any = (more: object): WrittenNode[] => [
      { graph: { a: 'a', b: 'b', c: { task: 'c', after: ['a', 'b'], join: 'any', ...more } } },
    ];
    const it = begun(any({})).did('b');
    expect(it.running).toEqual(['a', 'c']);
    expect(it.broke('a').did('c').ending).toEqual(ended);
    const rest = begun(any({ cancel_rest: true })).did('b');
    expect(rest.decide()).toMatchObject({ kind: 'abort' });
    rest.end({ kind: 'cancelled' }, 'a');
    rest.go();
    expect(rest.running).toEqual(['c']);
    expect(rest.did('c').ending).toEqual(ended);
  });
});

describe('choice', () => {
  it('takes the first case that holds and keeps to it', () => {
    const choice = {
      choice: [
        { when: 'p', then: 'a' },
        { when: 'q', then: 'b' },
      ],
      default: 'c',
    };
    const take = (p: boolean, q: boolean): Story => {
      const it = story({ steps: [choice, 'd'] });
      it.answering({ '0.choice[0].when': p, '0.choice[1].when': q }).go();
      return it;
    };
    expect(take(true, true).running).toEqual(['a']);
    expect(take(false, true).running).toEqual(['b']);
    expect(take(false, false).running).toEqual(['c']);
    const it = take(false, true).answering({ '0.choice[0].when': true }).did('b');
    expect(it.running).toEqual(['d']);
  });
});

describe('map', () => {
  const over = (more: object = {}): WrittenNode[] => [
    { map: { over: 'params.list', do: { task: 'a', params: { n: '{{item}}' } }, ...more } },
    'd',
  ];

  it('works on every item, at most limit at a time', () => {
    const it = story({ steps: over({ limit: 2 }), world: { freeSlots: 10 } });
    it.answering({ '0.map.over': [10, 20, 30] }).go();
    expect(it.steps.map((step) => [step.path, step['params']])).toEqual([
      ['0', undefined],
      ['0.map.0', { n: 10 }],
      ['0.map.1', { n: 20 }],
    ]);
    it.did('0.map.1', 'r1');
    expect(it.running).toEqual(['a', 'a']);
    it.did('0.map.2', 'r2').did('0.map.0', 'r0');
    expect(it.running).toEqual(['d']);
  });

  it('completes at once without items', () => {
    const it = story({ steps: over() }).answering({ '0.map.over': [] });
    it.go();
    expect(it.running).toEqual(['d']);
  });

  it('works on all items whatever fails, and fails beyond what it tolerates', () => {
    const run = (tolerate: number | string): Story => {
      const it = story({ steps: over({ tolerate }), world: { freeSlots: 10 } });
      it.answering({ '0.map.over': [1, 2, 3] }).go();
      return it.broke('0.map.0').did('0.map.1').did('0.map.2');
    };
    expect(run(0).ending).toEqual(failed);
    expect(run(1).running).toEqual(['d']);
    expect(run('34%').running).toEqual(['d']);
    expect(run('33%').ending).toEqual(failed);
  });
});

describe('loop', () => {
  it('goes on while its condition holds', () => {
    const it = story({ steps: [{ loop: { while: 'w', max: 5, do: 'a' } }, 'd'] });
    const rounds = { '0.loop.0.while': true, '0.loop.1.while': true, '0.loop.2.while': true };
    it.answering({ ...rounds, '0.loop.3.while': false }).go();
    it.did('a', 1).did('a', 2).did('a', 3);
    expect(it.running).toEqual(['d']);
    expect(it.steps.filter(({ task }) => task === 'a').map(({ path }) => path)).toEqual([
      '0.loop.0',
      '0.loop.1',
      '0.loop.2',
    ]);
  });

  it('fails when its condition still holds after its most rounds', () => {
    const it = story({ steps: [{ loop: { while: 'w', max: 1, do: 'a' } }, 'd'] });
    it.answering({ '0.loop.0.while': true, '0.loop.1.while': true }).go();
    expect(it.did('a').ending).toEqual({ state: '$$complete', exit: 2, failure: 'LoopLimit' });
  });
});

describe('undo', () => {
  it('undoes what was done, last first, before the handler of the flow', () => {
    const it = begun([{ task: 'a', undo: 'ua' }, { task: 'b', undo: 'ub' }, 'c'], {
      flow: { error: 'h' },
    });
    it.did('a').at(10).did('b').at(20).broke('c');
    expect(it.running).toEqual(['ub']);
    it.did('ub');
    expect(it.running).toEqual(['ua']);
    it.broke('ua');
    expect(it.running).toEqual(['h']);
    expect(it.did('h').ending).toEqual(failed);
  });
});

describe('waiting', () => {
  it('takes a signal that came before, each one once', () => {
    const it = story({ steps: [{ wait: { signal: 's' } }, { wait: { signal: 's' } }, 'd'] });
    const signal = (id: string, data: unknown): object => ({ id, name: 's', at: 1, data });
    it.go();
    it.edit({ signals: [signal('1', 'x')] }).go();
    expect(it.trail).toEqual(['wait#1 $$complete', 'wait#1 $$waiting']);
    it.edit({ signals: [signal('1', 'x'), signal('2', 'y')] }).go();
    expect(it.running).toEqual(['d']);
    expect(it.steps.map((step) => ('result' in step ? step['result'] : undefined))).toEqual([
      'x',
      'y',
      undefined,
    ]);
  });

  it('fails when nothing came in time', () => {
    const it = begun([{ wait: { signal: 's', timeout: 1000 } }]);
    expect(it.decide()).toMatchObject({ kind: 'wait', asleep: true });
    it.at(1000).go();
    expect(it.ending).toEqual({ state: '$$complete', exit: 1, failure: 'WaitTimeout' });
  });

  it('is released by an event, also one of before', () => {
    const it = begun([{ wait: { event: 'paid', key: '{{job.params.order}}' } }, 'd'], {
      job: { params: { order: '7' } },
      world: { events: { 'paid:7': { kind: 'found', data: { sum: 3 } } } },
    });
    expect(it.running).toEqual(['d']);
  });
});
