import { describe, expect, test } from 'vitest';
import { waitMs } from '../../src/store/backoff.js';
import { readLine } from '../../src/store/change.js';

const doc = { _id: 'a', _rev: '1-x', type: 'job' };

describe('readLine', () => {
  test.each<[string, string, unknown]>([
    ['an empty line is a heartbeat', '', { kind: 'heartbeat' }],
    ['a carriage return is a heartbeat', '\r', { kind: 'heartbeat' }],
    [
      'a change with its document',
      JSON.stringify({ id: 'a', seq: '1-x', changes: [], doc }),
      { kind: 'change', change: { id: 'a', seq: '1-x', deleted: false, doc } },
    ],
    [
      'a deletion, with what the tombstone holds',
      JSON.stringify({ id: 'a', seq: '2-x', deleted: true, doc }),
      { kind: 'change', change: { id: 'a', seq: '2-x', deleted: true, remains: doc } },
    ],
    [
      'a document that is null',
      JSON.stringify({ id: 'a', seq: '2-x', doc: null }),
      { kind: 'change', change: { id: 'a', seq: '2-x', deleted: false } },
    ],
    [
      'a document in conflict, without what tells it',
      JSON.stringify({ id: 'a', seq: '2-x', doc: { ...doc, _conflicts: ['1-y'] } }),
      { kind: 'change', change: { id: 'a', seq: '2-x', deleted: false, doc, conflicted: true } },
    ],
    [
      'a sequence that is a number',
      JSON.stringify({ id: 'a', seq: 7 }),
      { kind: 'change', change: { id: 'a', seq: '7', deleted: false } },
    ],
    ['the end', '{"last_seq":"9-x","pending":0}', { kind: 'end', seq: '9-x' }],
    ['an error', '{"error":"e","reason":"r"}', { kind: 'error', cause: 'e: r' }],
    ['half a line', '{"id":"a","se', { kind: 'malformed' }],
    ['JSON that is no object', '7', { kind: 'malformed' }],
    ['null', 'null', { kind: 'malformed' }],
    ['an object that is no change', '{"id":"a"}', { kind: 'malformed' }],
  ])('%s', (_title, text, line) => {
    expect(readLine(text)).toEqual(line);
  });
});

describe('waitMs', () => {
  test.each([
    [1, 0, 1_000],
    [1, 0.999_999, 2_000],
    [2, 0, 2_000],
    [2, 0.5, 3_000],
    [4, 0, 8_000],
    [5, 0, 15_000],
    [5, 0.999_999, 30_000],
    [5_000, 0.999_999, 30_000],
  ])('after %i failures, with chance %d, is %i ms', (failures, random, ms) => {
    expect(waitMs(failures, random, { firstMs: 1_000, maxMs: 30_000, refusedMs: 1 })).toBe(ms);
  });

  test('is never longer than two seconds for a server that was away for long', () => {
    expect(waitMs(5_000, 0.999_999)).toBe(2_000);
  });

  test('is never shorter than the first wait', () => {
    expect(waitMs(1, 0, { firstMs: 50, maxMs: 10, refusedMs: 1 })).toBe(50);
  });
});
