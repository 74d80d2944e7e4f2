import { describe, expect, it } from 'vitest';
import { queueWishes } from '../../src/model/queue-control.js';
import { readQueueControl } from '../../src/reading/queue-control.js';

const doc = { _id: 'c', _rev: '1-x', type: 'queue-control', queue: 'mail', paused: true };
const message = expect.any(String) as string;

describe('a control of a queue', () => {
  it.each([
    ['is valid', {}, { paused: true }, []],
    ['resumes', { paused: false }, { paused: false }, []],
    ['holds what an engine wrote into it', { problems: 7 }, { paused: true }, []],
    ['has a wrong reason', { reason: 7 }, { paused: true }, [{ path: 'reason', message }]],
    ['limits', { rate: { limit: 1, per: 5 } }, { rate: { limit: 1, per: 5 } }, []],
    [
      'limits, with a wrong wish',
      { paused: 'yes', rate: { limit: 1, per: 5 } },
      { rate: { limit: 1, per: 5 } },
      [{ path: 'paused', message }],
    ],
    [
      'has a wrong rate',
      { rate: { limit: 0, per: 5 } },
      { paused: true },
      [{ path: 'rate.limit', message: expect.stringContaining('from 1 to') as string }],
    ],
    ['has a wrong wish', { paused: 'yes' }, undefined, [{ path: 'paused', message }]],
    ['names no queue', { queue: '' }, undefined, [{ path: 'queue', message }]],
    ['is none', { type: 'note' }, undefined, []],
  ])('that %s is read', (_title, more, said, problems) => {
    const read = readQueueControl({ ...doc, ...more });
    expect(read.problems).toEqual(problems);
    if (said === undefined) expect(read.control).toBeUndefined();
    else expect(read.control).toMatchObject({ _id: 'c', queue: 'mail', ...said });
  });

  it('says why its queue is paused if it is the first that pauses it', () => {
    const control = { type: 'queue-control', queue: 'mail' } as const;
    const wishes = queueWishes([
      { ...control, _id: 'a', paused: false, reason: 'none' },
      { ...control, _id: 'b', paused: true, reason: 'it moves' },
      { ...control, _id: 'c', paused: true, reason: 'it is slow' },
      { ...control, _id: 'd', queue: 'rare' },
    ]);
    expect([...wishes.values()].map(({ _id }) => _id)).toEqual(['b', 'd']);
  });

  it('limits its queue by the first rate, whoever pauses it', () => {
    const control = { type: 'queue-control', queue: 'mail' } as const;
    const rate = { limit: 1, per: 5 };
    const wishes = queueWishes([
      { ...control, _id: 'a', rate },
      { ...control, _id: 'b', paused: true, rate: { limit: 2, per: 5 } },
    ]);
    expect(wishes.get('mail')).toMatchObject({ _id: 'b', paused: true, rate });
  });
});
