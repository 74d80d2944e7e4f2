import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../src/structures/kind.js';
import { begun, endings, type Story } from '../decide/story.js';

const etl = {
  graph: {
    extract: 'e',
    one: { task: 'x', after: ['extract'] },
    two: { task: 'y', after: ['extract'] },
    load: { task: 'l', after: ['one', 'two'] },
  },
};

describe('a graph', () => {
  // Shows F-03, F-05.
  it('begins each node after those it names', () => {
    const told = begun([etl]).did('e');
    expect(told.running).toEqual(['x', 'y']);
    told.did('y');
    expect(told.running).toEqual(['x']);
    told.did('x');
    expect(told.running).toEqual(['l']);
    expect(told.did('l').ending).toEqual(endings.well);
    expect(told.steps.map(({ path }) => path)).toEqual([
      '0.graph.extract',
      '0.graph.one',
      '0.graph.two',
      '0.graph.load',
    ]);
  });

  it('may be written in any order, and stand at the root', () => {
    const { extract, one, two, load } = etl.graph;
    const told = begun([], { flow: { tasks: { graph: { load, two, one, extract } } } });
    expect(told.running).toEqual(['e']);
    told.did('e');
    expect(told.open).toEqual(['graph.two', 'graph.one']);
    expect(told.did('x').did('y').did('l').ending).toEqual(endings.well);
  });

  it('gives a node the results of all that is before it, over any number of nodes', () => {
    const last = { task: 'l', after: ['two'], params: { seen: '{{results}}' } };
    const graph = { ...etl.graph, load: last };
    const told = begun(['a', { graph }, { task: 'z', params: { all: '{{parent_results}}' } }]);
    told.did('a', 0).did('e', 1).did('x', 2).did('y', 3);
    expect(told.live.params).toEqual({
      seen: { a: 0, 'a-0': 0, e: 1, 'e-1': 1, y: 3, 'y-3': 3 },
    });
    told.did('l', 4);
    expect(told.live.params).toEqual({
      all: { 0: 0, 1: { extract: 1, one: 2, two: 3, load: 4 } },
    });
  });

  it('never begins what comes after a failure, and fails when all others have ended', () => {
    const told = begun([etl]).did('e').broke('x');
    expect(told.running).toEqual(['y']);
    expect(told.did('y').ending).toEqual(endings.badly);
  });

  it('of graphs, nine deep, begins from the inside out', () => {
    const nest = (depth: number): WrittenNode => ({
      graph: {
        first: depth === 1 ? 'a' : nest(depth - 1),
        then: { task: `t${depth}`, after: ['first'] },
      },
    });
    const told = begun([nest(9)]).did('a');
    for (let depth = 1; depth <= 9; depth += 1) told.did(`t${depth}`);
    expect(told.ending).toEqual(endings.well);
  });

  it('ends the others at once when on_fail is cancel_rest', () => {
    const told = begun([{ ...etl, on_fail: 'cancel_rest' }])
      .did('e')
      .broke('y')
      .stopped();
    expect(told.trail).toEqual(['e#1 $$complete', 'x#1 $$cancelled', 'y#1 $$error']);
    expect(told.ending).toEqual(endings.badly);
  });

  it('is done whatever failed when on_fail is ignore', () => {
    const told = begun([{ ...etl, on_fail: 'ignore' }, 'z'])
      .did('e')
      .broke('y')
      .did('x');
    expect(told.running).toEqual(['z']);
    expect(told.did('z').ending).toEqual(endings.well);
  });
});

describe('the join of a node in a graph', () => {
  /** Three nodes, and one that comes after them. */
  const joining = (join: unknown, more: object = {}, rest: object = {}): Story =>
    begun([
      {
        graph: {
          a: 'a',
          b: 'b',
          c: { task: 'c', when: 'w' },
          z: { task: 'z', after: ['a', 'b', 'c'], join, ...more },
          ...rest,
        },
      },
    ]).answering({ '0.graph.c.when': true });

  type Way = 'did' | 'broke' | 'skip';
  const rules: readonly [unknown, readonly [Way, Way, Way], 'begins' | 'never'][] = [
    ['all', ['did', 'did', 'did'], 'begins'],
    ['all', ['did', 'did', 'skip'], 'begins'],
    ['all', ['did', 'did', 'broke'], 'never'],
    ['any', ['broke', 'broke', 'did'], 'begins'],
    ['any', ['broke', 'broke', 'broke'], 'never'],
    [2, ['broke', 'did', 'did'], 'begins'],
    [2, ['broke', 'did', 'broke'], 'never'],
    ['done', ['broke', 'broke', 'broke'], 'begins'],
    ['done', ['did', 'did', 'did'], 'begins'],
    ['none_failed', ['did', 'did', 'skip'], 'begins'],
    ['none_failed', ['did', 'did', 'broke'], 'never'],
  ];
  // Shows X-08.
  it.each(rules)('%s with %j: it %s', (join, ways, verdict) => {
    const told = joining(join).answering({ '0.graph.c.when': ways[2] !== 'skip' });
    told.go();
    (['a', 'b', 'c'] as const).forEach((task, i) => {
      if (ways[i] === 'did') told.did(task);
      if (ways[i] === 'broke') told.broke(task);
    });
    expect(told.steps.some(({ task }) => task === 'z')).toBe(verdict === 'begins');
    if (verdict === 'never') expect(told.ending).toEqual(endings.badly);
  });

  // Shows K-03, X-08.
  it.each(['done', 'none_failed', 'all'])('%s waits until all have ended', (join) => {
    const told = joining(join);
    told.go();
    told.did('a').did('b');
    expect(told.running).toEqual(['c']);
    expect(told.did('c').running).toEqual(['z']);
  });

  // Shows F-04.
  it('any begins it once, while the others go on, and lets them fail', () => {
    const told = joining('any');
    told.go();
    told.did('b');
    expect(told.running).toEqual(['a', 'c', 'z']);
    told.broke('a').did('c').did('z');
    expect(told.trail.filter((step) => step.startsWith('z'))).toHaveLength(1);
    expect(told.ending).toEqual(endings.well);
  });

  it('any with cancel_rest cancels what is left of them', () => {
    const told = joining('any', { cancel_rest: true });
    told.go();
    told.did('b').stopped();
    expect(told.trail).toEqual([
      'a#1 $$cancelled',
      'b#1 $$complete',
      'c#1 $$cancelled',
      'z#1 $$active',
    ]);
    expect(told.did('z').ending).toEqual(endings.well);
  });

  it('any makes up for those that failed, not for what can never begin after them', () => {
    const behind = { y: { task: 'y', after: ['a'] } };
    const told = joining('any', {}, behind);
    told.go();
    told.broke('a').did('b').did('c').did('z');
    expect(told.trail.some((step) => step.startsWith('y'))).toBe(false);
    expect(told.ending).toEqual(endings.badly);
  });

  it('any with cancel_rest does again in a further run what had failed before, not what it cancelled', () => {
    const graph = {
      a: 'a',
      b: 'b',
      c: 'c',
      z: { task: 'z', after: ['a', 'b', 'c'], join: 'any', cancel_rest: true },
      y: { task: 'y', after: ['b'] },
    };
    const told = begun([{ graph }]).broke('b').did('a').stopped().did('z');
    expect(told.ending).toEqual(endings.badly);
    told.ask('retry');
    expect(told.running).toEqual(['b']);
    expect(told.did('b').did('y').ending).toEqual(endings.well);
  });

  it('any with cancel_rest cancels the rest in a further run, too, when it begins there', () => {
    const graph = {
      a: 'a',
      b: 'b',
      z: { task: 'z', after: ['a', 'b'], join: 'any', cancel_rest: true },
    };
    const told = begun([{ graph }]).broke('a').broke('b');
    expect(told.ending).toEqual(endings.badly);
    told.ask('retry');
    expect(told.running).toEqual(['a', 'b']);
    told.did('a').stopped();
    expect(told.running).toEqual(['z']);
    expect(told.did('z').ending).toEqual(endings.well);
  });

  it('never waits for what was cancelled before its next attempt', () => {
    const graph = {
      a: { task: 'a', retry: { limit: 1, delay: 60_000 } },
      b: 'b',
      z: { task: 'z', after: ['a', 'b'], join: 'any', cancel_rest: true },
      y: { task: 'y', after: ['a'] },
      x: { task: 'x', after: ['a', 'b'], join: 'none_failed' },
      w: { task: 'w', after: ['y'], join: 'none_failed' },
    };
    const told = begun([{ graph }]).broke('a').did('b');
    expect(told.running).toEqual(['z', 'x', 'w']);
    expect(told.did('z').did('x').did('w').ending).toEqual(endings.well);
  });

  it('waits for what is being cancelled', () => {
    const graph = {
      a: 'a',
      b: 'b',
      z: { task: 'z', after: ['a', 'b'], join: 'any', cancel_rest: true },
      y: { task: 'y', after: ['a'], join: 'done' },
    };
    const told = begun([{ graph }]).did('b');
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    told.stopped();
    expect(told.running).toEqual(['z', 'y']);
    expect(told.did('z').did('y').ending).toEqual(endings.well);
  });

  it('none_failed is kept back by a failure further up', () => {
    const graph = {
      a: 'a',
      b: { task: 'b', after: ['a'] },
      z: { task: 'z', after: ['b'], join: 'none_failed' },
      y: { task: 'y', after: ['b'], join: 'done' },
    };
    const told = begun([{ graph }]).broke('a');
    expect(told.running).toEqual(['y']);
    expect(told.did('y').ending).toEqual(endings.badly);
  });

  it('goes on where one that is cancelled lets others begin, which cancel more', () => {
    const late = { retry: { limit: 3, delay: 1000 } };
    const first = { join: 'any', cancel_rest: true };
    const graph = {
      a: 'a',
      b: { task: 'b', ...late },
      c: { task: 'c', after: ['a', 'b'], ...first },
      f: { task: 'f', after: ['b'], join: 'done' },
      g: { task: 'g', ...late },
      h: { task: 'h', after: ['f', 'g'], ...first },
      i: { task: 'i', after: ['g'] },
    };
    const told = begun([{ graph }, 'z']).broke('b').broke('g').did('a');
    expect(told.running).toEqual(['c', 'f']);
    told.did('c').did('f');
    expect(told.running).toEqual(['h']);
    expect(told.did('h').running).toEqual(['z']);
    expect(told.at(5000).did('z').ending).toEqual(endings.well);
  });

  it('of a parallel in a graph is about the nodes of the parallel', () => {
    const graph = {
      a: 'a',
      b: 'b',
      p: { parallel: ['x', 'y'], join: 'any', cancel_rest: true, after: ['a', 'b'] },
    };
    const told = begun([{ graph }, 'z']).did('a');
    expect(told.running).toEqual(['b']);
    told.did('b').did('y').stopped();
    expect(told.running).toEqual(['z']);
  });

  it('races a timer against a signal', () => {
    const graph = {
      timer: { delay: 1000 },
      signal: { wait: { signal: 's' } },
      next: { task: 'n', after: ['timer', 'signal'], join: 'any', cancel_rest: true },
    };
    const told = begun([{ graph }]).at(10).signal('s', { ok: true });
    expect(told.trail).toEqual(['delay#1 $$cancelled', 'wait#1 $$complete', 'n#1 $$active']);
  });
});
