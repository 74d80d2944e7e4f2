import { describe, expect, it } from 'vitest';
import { inReadingOrder } from '../../src/model/job.js';

describe('inReadingOrder', () => {
  it('puts what people look for first and the snapshots last, and keeps other keys as written', () => {
    const job = { steps: [], mine: 1, definitions: {}, state: 'x', other: 2, _id: 'a', params: {} };
    const keys = ['_id', 'state', 'mine', 'other', 'params', 'steps', 'definitions'];
    const ordered = inReadingOrder(job);
    expect(Object.keys(ordered)).toEqual(keys);
    expect(ordered).toEqual(job);
  });

  it('keeps a key that is called __proto__, as any other', () => {
    const job = JSON.parse('{"type": "job", "__proto__": {"state": "x"}}') as { type: string };
    expect(JSON.stringify(inReadingOrder(job))).toBe(JSON.stringify(job));
  });
});
