import { describe, expect, it } from 'vitest';
import type { WrittenNode } from '../../src/structures/kind.js';
import { begun, endings, story } from '../decide/story.js';

describe('a sequence', () => {
  const orders: readonly [string, WrittenNode[], readonly string[]][] = [
    ['of names', ['a', 'b', 'c'], ['0 a-0', '1 b-1', '2 c-2']],
    ['of one task thrice', ['a', 'a', 'a'], ['0 a-0', '1 a-1', '2 a-2']],
    [
      'in a sequence',
      ['a', ['b', 'c'], 'd'],
      ['0 a-0', '1.sequence.0 b-1', '1.sequence.1 c-2', '2 d-3'],
    ],
    [
      'deep inside',
      [[[['a']]], { sequence: ['b', []] }, 'c'],
      ['0.sequence.0.sequence.0.sequence.0 a-0', '1.sequence.0 b-1', '2 c-2'],
    ],
    [
      'ten deep',
      [[[[[[[[[['a'], 'b']]]]]]]], 'c'],
      [`0${'.sequence.0'.repeat(9)} a-0`, `0${'.sequence.0'.repeat(7)}.sequence.1 b-1`, '1 c-2'],
    ],
  ];
  // Shows C-09, F-01.
  it.each(orders)('%s runs one step after the other', (_title, steps, order) => {
    const told = story({ steps });
    told.go();
    const seen: string[] = [];
    while (told.job.state !== '$$complete') {
      seen.push(`${told.live.path} ${told.job.state}`);
      told.done();
    }
    expect(seen).toEqual(order);
    expect(told.ending).toEqual(endings.well);
  });

  it('of nothing is done at once', () => {
    const told = begun([[], 'a', [[], []]]);
    expect(told.running).toEqual(['a']);
    expect(told.did('a').ending).toEqual(endings.well);
  });

  // Shows F-01.
  it('begins nothing behind a step that failed, at any depth', () => {
    const told = begun([['a', ['b', 'c']], 'd'])
      .did('a')
      .broke('b');
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$error']);
    expect(told.ending).toEqual(endings.badly);
  });

  it('hands each result on to the steps behind it', () => {
    const told = begun([
      'a',
      [
        { task: 'b', params: { a: '{{results.a}}' } },
        { task: 'c', stdio: { n: 'n' } },
      ],
      { task: 'd', params: { all: '{{parent_results}}' } },
    ]).did('a', 1);
    expect(told.liveAt('b').params).toEqual({ a: 1 });
    expect(told.did('b', { n: 7 }).liveAt('c').params).toEqual({ n: 7 });
    expect(told.did('c', 3).liveAt('d').params).toEqual({ all: { 0: 1, 1: { n: 7 }, 2: 3 } });
  });

  it('that is optional counts as done when it fails, and nothing more of it begins', () => {
    const told = begun([{ sequence: ['a', 'b'], optional: true }, 'c']).broke('a');
    expect(told.running).toEqual(['c']);
    expect(told.did('c').ending).toEqual(endings.well);
  });

  it('ends what an earlier node of it left behind when it fails', () => {
    const told = begun([
      {
        parallel: [
          [{ parallel: ['a', ['b', 'x']], join: 'any' }, 'c'],
          ['d', 'e'],
        ],
      },
    ]).did('a');
    told.broke('c').stopped();
    expect(told.trail).toEqual([
      'a#1 $$complete',
      'b#1 $$cancelled',
      'd#1 $$active',
      'c#1 $$error',
    ]);
    expect(told.did('d').did('e').ending).toEqual(endings.badly);
  });
});
