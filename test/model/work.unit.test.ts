import { describe, expect, it } from 'vitest';
import { offerName, offersIn, queueOfOffer, workOptionsOf } from '../../src/model/work.js';

const at = 1_700_000_000_000;

describe('the name of an offer', () => {
  it('sorts by priority, then by age', () => {
    const names = [
      offerName({ queue: 'mail', priority: 0, at: at + 9, id: 'd' }),
      offerName({ queue: 'mail', priority: 50, at, id: 'c' }),
      offerName({ queue: 'mail', priority: 500, at: 7, id: 'b' }),
      offerName({ queue: 'mail', priority: 500, at: at + 1, id: 'a' }),
    ];
    expect(names.toSorted()).toEqual(names);
  });

  it.each(['default', 'a/b', 'größe €', '100%', 'with space'])('tells the queue %s', (queue) => {
    const name = offerName({ queue, priority: 1, at, id: 'x' });
    expect(name.startsWith(offersIn(queue))).toBe(true);
    expect(queueOfOffer(name)).toBe(queue);
  });

  it.each(['go', 'work/mail/now', 'lease/x', ''])('is not what %j is', (signal) => {
    expect(queueOfOffer(signal)).toBeUndefined();
  });

  it('that somebody made up is told as it is', () => {
    expect(queueOfOffer('work/%E0%A4/500/0000000000000001/x')).toBe('%E0%A4');
  });
});

describe('the wish of a task for its work', () => {
  it.each<[unknown, unknown]>([
    [undefined, {}],
    [{ worker: null }, {}],
    [{ worker: { type: 7, queue: '', lease: 'x', timeout: -1 } }, {}],
    [{ worker: { queue: 'mail' } }, { queue: 'mail' }],
    [
      { worker: { type: 'mail.send', lease: 5, timeout: 9 } },
      { type: 'mail.send', lease: 5, timeout: 9 },
    ],
    [{ worker: { lease: 9e9 } }, { lease: 86_400_000 }],
  ])('of parameters %j is %j', (params, wish) => {
    expect(workOptionsOf(params)).toEqual(wish);
  });
});
