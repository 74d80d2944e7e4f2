import { describe, expect, it } from 'vitest';
import { carrying } from '../../../src/decide/finish/settle.js';
import type { Intent } from '../../../src/decide/intent.js';
import type { Acquire, Query } from '../../../src/decide/queries.js';
import { flow, liveJob } from '../../support/builders.js';

const settled = liveJob(flow(['a']));
const next = { ...settled, run: 2 };

describe('a settled job that is not stored yet', () => {
  it.each<[string, Exclude<Intent, Query | Acquire>, unknown]>([
    ['is written as decided', { kind: 'write', job: next }, { kind: 'write', job: next }],
    [
      'goes into the next claim',
      { kind: 'claim', job: next, steps: [] },
      { kind: 'claim', job: next, steps: [] },
    ],
    [
      'goes into the making of a child',
      { kind: 'spawn', job: next, children: [] },
      { kind: 'spawn', job: next, children: [] },
    ],
    [
      'is written with the time until which it sleeps',
      { kind: 'wait', because: 'b', asleep: true, until: 7 },
      { kind: 'write', job: { ...settled, next_due: 7 } },
    ],
    [
      'is written when it waits for a change',
      { kind: 'wait', because: 'b' },
      { kind: 'write', job: settled },
    ],
    [
      'is written when it needs nothing',
      { kind: 'ignore', because: 'b' },
      { kind: 'write', job: settled },
    ],
    [
      'is written before others are aborted',
      { kind: 'abort', claims: [], because: 'b' },
      { kind: 'write', job: settled },
    ],
  ])('%s', (_title, intent, expected) => {
    expect(carrying(settled, intent)).toEqual(expected);
  });
});
