import { describe, expect, it } from 'vitest';
import type { Wait } from '../../../src/decide/intent.js';
import { mergeWaits } from '../../../src/decide/waiting/together.js';

const wait = (because: string, more: Partial<Wait> = {}): Wait => ({
  kind: 'wait',
  because,
  ...more,
});

const line = (key: string) => ({ key, title: key, most: 1, by: [] });

describe('several reasons to wait', () => {
  it.each<[title: string, waits: readonly Wait[], one: Wait]>([
    ['none', [], wait('Nothing can be done now.')],
    [
      'one is itself',
      [wait('A.', { until: 5, asleep: true })],
      wait('A.', { until: 5, asleep: true }),
    ],
    ['the same twice', [wait('A.'), wait('A.')], wait('A.')],
    [
      'the first time counts',
      [wait('A.'), wait('B.', { until: 9 }), wait('C.', { until: 7 })],
      wait('A. B. C.', { until: 7 }),
    ],
    [
      'all asleep',
      [wait('A.', { asleep: true }), wait('B.', { asleep: true })],
      wait('A. B.', { asleep: true }),
    ],
    [
      'more than three',
      ['A.', 'B.', 'C.', 'D.', 'E.'].map((because) => wait(because)),
      wait('A. B. C. (2 more)'),
    ],
    ['an engine', [wait('A.'), wait('B.', { for: 'engine' })], wait('A. B.', { for: 'engine' })],
    [
      'a slot comes before an engine, with the best rank',
      [
        wait('A.', { for: 'engine' }),
        wait('B.', { for: 'slot', rank: 3 }),
        wait('C.', { for: 'slot' }),
      ],
      wait('A. B. C.', { for: 'slot', rank: 0 }),
    ],
    [
      'slots of tasks',
      [
        wait('A.', { for: 'slot', rank: 1, tasks: [{ task: 'a', slots: 1 }] }),
        wait('B.', { for: 'slot', rank: 2, tasks: [{ task: 'b', slots: 2 }] }),
      ],
      wait('A. B.', {
        for: 'slot',
        rank: 1,
        tasks: [
          { task: 'a', slots: 1 },
          { task: 'b', slots: 2 },
        ],
      }),
    ],
    [
      'permits of several limits, each once',
      [
        wait('A.', { for: 'permit', lines: [line('k')] }),
        wait('B.', { for: 'permit', lines: [line('l'), line('k')] }),
      ],
      wait('A. B.', { for: 'permit', lines: [line('k'), line('l')] }),
    ],
    [
      'a permit beside something else',
      [wait('A.'), wait('B.', { for: 'permit', lines: [line('k')] })],
      wait('A. B.', { lines: [line('k')] }),
    ],
  ])('%s', (_title, waits, one) => {
    expect(mergeWaits(waits)).toEqual(one);
  });
});
