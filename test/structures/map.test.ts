import { describe, expect, it } from 'vitest';
import { widest } from '../../src/model/limits.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { begun, endings, story, type Setting, type Story } from '../decide/story.js';

const each = { task: 'a', params: { n: '{{item}}', i: '{{index}}' } };
const over = (more: object = {}): WrittenNode[] => [
  { map: { over: 'params.list', do: each, ...more } },
  'd',
];

/** A story whose first node is a map over these items. */
function mapping(items: unknown, more: object = {}, setting: Partial<Setting> = {}): Story {
  const told = story({ steps: over(more), world: { freeSlots: 100 }, ...setting });
  told.answering({ '0.map.over': items }).go();
  return told;
}

describe('a map', () => {
  // Shows F-06.
  it('works on every item at once, in the order of the list, each with its item and its index', () => {
    const told = mapping([10, 'x', { y: 1 }]);
    expect(told.steps.map((step) => [step.path, step['params']])).toEqual([
      ['0', undefined],
      ['0.map.0', { n: 10, i: 0 }],
      ['0.map.1', { n: 'x', i: 1 }],
      ['0.map.2', { n: { y: 1 }, i: 2 }],
    ]);
    told.did('0.map.2').did('0.map.0');
    expect(told.running).toEqual(['a']);
    expect(told.did('0.map.1').running).toEqual(['d']);
  });

  it('gives no place to an item about which there is nothing to do', () => {
    const told = mapping([1, 2], { limit: 1, do: { sequence: [] } });
    expect(told.running).toEqual(['d']);
  });

  it('keeps its list, whatever becomes of what it was made from', () => {
    const told = mapping([1, 2], { limit: 1 }).answering({ '0.map.over': [7, 8, 9] });
    told.did('0.map.0');
    expect(told.live.params).toEqual({ n: 2, i: 1 });
    expect(told.did('0.map.1').running).toEqual(['d']);
    expect(told.steps[0]).toMatchObject({
      task: 'map',
      structure: 'map',
      result: { items: [1, 2] },
    });
  });

  // Shows F-06.
  it.each([
    ['nothing', undefined, 0],
    ['null', null, 0],
    ['an empty list', [], 0],
    ['a list of one', [1], 1],
    ['an object, which JSONata gives for a list of one', { id: 1 }, 1],
    ['a text, which JSONata gives for a list of one', 'x', 1],
    ['a number, which JSONata gives for a list of one', 0, 1],
  ])('goes over %s', (_title, value, count) => {
    const told = mapping(value);
    expect(told.running).toEqual(count === 0 ? ['d'] : Array.from({ length: count }, () => 'a'));
  });

  it.each([
    ['a condition', true, 'it gives true'],
    ['a function', () => 1, 'it gives a function'],
  ])('fails with exit 3 over %s', (_title, value, sentence) => {
    const told = mapping(value, {}, { flow: { retry: 2 } });
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'OverInvalid' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining(sentence) as string },
    });
  });

  it('fails with exit 3 when its list cannot be made', () => {
    const told = story({
      steps: over(),
      world: { answers: { '0.map.over': { ok: false, reason: 'no' } } },
    });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ExpressionError' });
  });

  it('may have its list written out, and stand at the root', () => {
    const tasks = {
      map: { over: ['x', 'y'], as: 'letter', do: { task: 'a', params: { is: '{{letter}}' } } },
    };
    const told = begun([], { flow: { tasks } });
    expect(told.steps.map((step) => [step.path, step['params']])).toEqual([
      ['', undefined],
      ['map.0', { is: 'x' }],
      ['map.1', { is: 'y' }],
    ]);
    expect(told.did('map.0').did('map.1').ending).toEqual(endings.well);
  });

  it('in a map knows both items by their names', () => {
    const inner = {
      map: {
        over: 'item',
        as: 'column',
        do: { task: 'a', params: { cell: '{{row}}/{{column}}/{{index}}' } },
      },
    };
    const told = story({
      steps: [{ map: { over: 'x', as: 'row', do: inner } }],
      world: { freeSlots: 9 },
    });
    told.answering({
      '0.map.over': [[1, 2], [3]],
      '0.map.0.map.over': [1, 2],
      '0.map.1.map.over': [3],
    });
    told.go();
    expect(told.steps.filter(({ task }) => task === 'a').map((step) => step['params'])).toEqual([
      { cell: '1,2/1/0' },
      { cell: '1,2/2/1' },
      { cell: '3/3/0' },
    ]);
  });

  it('of maps, eight deep, comes to the innermost', () => {
    const nest = (depth: number): WrittenNode =>
      depth === 0 ? 'a' : { map: { over: [depth], do: nest(depth - 1) } };
    const told = begun([nest(8), 'd']);
    expect(told.open).toEqual([`0${'.map.0'.repeat(8)}`]);
    expect(told.did('a', 'x').running).toEqual(['d']);
  });

  it('gives its results as lists, in the order of the items', () => {
    const steps: WrittenNode[] = [
      { map: { over: [1, 2, 3], tolerate: 1, do: ['a', { task: 'b', name: 'bee' }] }, name: 'all' },
      {
        task: 'd',
        params: { results: '{{results}}', parents: '{{parent_results}}' },
        stdio: { stdout: 'list' },
      },
    ];
    const told = begun(steps);
    for (const i of [2, 0, 1]) told.did(`0.map.${i}.sequence.0`, `a${i}`);
    told.did('0.map.1.sequence.1', 'b1').broke('0.map.0.sequence.1').did('0.map.2.sequence.1');
    expect(told.live.params).toMatchObject({
      results: {
        all: ['a0', 'b1', null],
        a: ['a0', 'a1', 'a2'],
        'a-0': ['a0', 'a1', 'a2'],
        bee: [null, 'b1', null],
        'b-1': [null, 'b1', null],
      },
      parents: { 0: ['a0', 'b1', null] },
      list: ['a0', 'b1', null],
    });
  });

  it('gives each step the results of its own item', () => {
    const told = begun([
      'z',
      { map: { over: [1, 2], do: ['a', { task: 'b', params: { seen: '{{results}}' } }] } },
    ]);
    told.did('z', 0).did('1.map.1.sequence.0', 'mine').did('1.map.0.sequence.0', 'other');
    expect(told.liveAt('1.map.1.sequence.1').params).toEqual({
      seen: { z: 0, 'z-0': 0, a: 'mine', 'a-1': 'mine' },
    });
  });
});

describe('the limit of a map', () => {
  // Shows X-06.
  it('keeps the number of items that are under way', () => {
    const told = mapping([0, 1, 2, 3], { limit: 2 });
    expect(told.open).toEqual(['0.map.0', '0.map.1']);
    told.did('0.map.1');
    expect(told.open).toEqual(['0.map.0', '0.map.2']);
    told.broke('0.map.0').did('0.map.2');
    expect(told.open).toEqual(['0.map.3']);
  });

  it.each([
    ['a limit of 0', { limit: 0 }],
    ['no limit', {}],
    ['a limit beyond all measure', { limit: 1_000_000 }],
  ])('is the widest that there is with %s', (_title, more) => {
    const each = { delay: 1_000 };
    // It takes several revisions to begin as many.
    const open = (count: number): number => {
      const told = mapping(Array.from({ length: count }), { do: each, ...more });
      for (let before = -1; before < told.open.length;) {
        before = told.open.length;
        told.go();
      }
      return told.open.length;
    };
    expect([open(3), open(widest), open(widest + 500)]).toEqual([3, widest, widest]);
  });

  it('counts an item that waits for its next attempt', () => {
    const told = mapping([0, 1, 2], {
      limit: 1,
      do: { task: 'a', retry: { limit: 1, delay: 100 } },
    });
    told.broke('0.map.0');
    expect(told.open).toEqual([]);
    told.at(100).go();
    expect(told.open).toEqual(['0.map.0']);
  });

  it('holds in a further run of the flow, too', () => {
    const told = mapping([0, 1, 2, 3], { limit: 2 }, { flow: { retry: 1 } });
    for (const i of [0, 1, 2, 3]) told.broke(`0.map.${i}`);
    expect(told.open).toEqual(['0.map.0', '0.map.1']);
    told.did('0.map.0');
    expect(told.open).toEqual(['0.map.1', '0.map.2']);
  });

  it('counts what an item has left behind', () => {
    const each = { parallel: ['a', ['b', 'c']], join: 'any' };
    const told = begun([{ map: { over: [1, 2], limit: 1, do: each } }]).did('a');
    expect(told.running).toEqual(['b']);
    told.did('b');
    expect(told.running).toEqual(['c']);
    expect(told.did('c').open).toEqual(['0.map.1.parallel.0', '0.map.1.parallel.1.sequence.0']);
  });

  it('lets in several at once when some are done without any work', () => {
    const told = story({
      steps: [{ map: { over: [0, 1, 2, 3], limit: 1, do: { task: 'a', when: 'w' } } }],
    });
    told.answering(Object.fromEntries([0, 1, 2, 3].map((i) => [`0.map.${i}.when`, i === 3]))).go();
    expect(told.open).toEqual(['0.map.3']);
  });

  it('does not let the time in which an engine must take a step begin before its turn', () => {
    const told = mapping(
      [0, 1],
      { limit: 1 },
      { tasks: [{ type: 'task', name: 'a', accept_timeout: 500 }] },
    );
    told.at(10_000).did('0.map.0');
    expect(told.open).toEqual(['0.map.1']);
  });
});

describe('failures of the items of a map', () => {
  const failing = (more: object, broken: readonly number[]): Story => {
    const told = mapping([0, 1, 2], more);
    for (const i of [0, 1, 2]) {
      if (broken.includes(i)) told.broke(`0.map.${i}`);
      else told.did(`0.map.${i}`);
    }
    return told;
  };
  // Shows X-06.
  it.each([
    ['none are tolerated by default', {}, [1], false],
    ['as many as tolerate says', { tolerate: 1 }, [1], true],
    ['one more than tolerate says', { tolerate: 1 }, [0, 1], false],
    ['more than there are', { tolerate: 9 }, [0, 1, 2], true],
    ['a share, rounded down', { tolerate: '34%' }, [0], true],
    ['a share that is too small', { tolerate: '33%' }, [0], false],
    ['all of them', { tolerate: '100%' }, [0, 1, 2], true],
    ['any number with on_fail ignore', { on_fail: 'ignore' }, [0, 1, 2], true],
  ] as const)('%s', (_title, more, broken, isDone) => {
    const told = failing(more, broken);
    if (isDone) expect(told.running).toEqual(['d']);
    else expect(told.ending).toEqual(endings.badly);
  });

  // Shows E-19.
  it('keep no other item from being worked on', () => {
    const told = mapping([0, 1, 2], { limit: 1 }).broke('0.map.0').did('0.map.1');
    expect(told.open).toEqual(['0.map.2']);
    expect(told.did('0.map.2').ending).toEqual(endings.badly);
  });

  it('cancel the others with on_fail cancel_rest, once they are more than tolerated', () => {
    const told = mapping([0, 1, 2, 3], { limit: 3, tolerate: 1, on_fail: 'cancel_rest' });
    told.broke('0.map.0');
    expect(told.open).toEqual(['0.map.1', '0.map.2', '0.map.3']);
    told.broke('0.map.1').stopped();
    expect(told.trail).toEqual([
      'map#1 $$complete',
      'a#1 $$error',
      'a#1 $$error',
      'a#1 $$cancelled',
      'a#1 $$cancelled',
    ]);
    expect(told.ending).toEqual(endings.badly);
  });

  it('that were tolerated stay so in a further run of the flow', () => {
    const told = mapping([0, 1], { tolerate: 1 }, { flow: { retry: 1 } });
    told.broke('0.map.0').did('0.map.1').broke('d');
    expect(told.running).toEqual(['d']);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('may all be left to the map being optional', () => {
    const steps: WrittenNode[] = [{ map: { over: [0, 1], do: 'a' }, optional: true }, 'd'];
    const told = begun(steps).broke('0.map.0').broke('0.map.1');
    expect(told.running).toEqual(['d']);
  });
});

describe('parent_results in an item of a map', () => {
  const nodes = [{ parallel: ['a', 'b'] }, { task: 'c', params: { all: '{{parent_results}}' } }];
  it.each([
    ['an item of a map', { map: { over: [1], do: { sequence: nodes } } }],
    ['a round of a loop', { loop: { max: 1, do: { sequence: nodes } } }],
    ['a sequence', { sequence: nodes }],
  ] as const)('hold nodes beside each other as one: in %s', (_title, node) => {
    const told = begun([node]).did('a', 'ra').did('b', 'rb');
    expect(told.live.params).toEqual({ all: { 0: { 0: 'ra', 1: 'rb' } } });
  });
});
