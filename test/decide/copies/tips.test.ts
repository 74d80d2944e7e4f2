import { describe, expect, it } from 'vitest';
import {
  borrowedIn,
  holds,
  stepOf,
  winnerFirst,
  withResultsOf,
} from '../../../src/decide/copies/tips.js';
import { attempt, tip } from './tips.js';

describe('tips', () => {
  it.each([
    ['the longest history wins', ['9-a', '10-a'], '10-a'],
    ['of equal ones the highest hash', ['3-0f', '3-a0', '3-9f'], '3-a0'],
    ['one alone wins', ['1-a'], '1-a'],
  ])('%s', (_title, revs, winner) => {
    const tips = revs.map((rev) => tip(rev, []));
    expect(winnerFirst(tips)[0]?._rev).toBe(winner);
    expect(winnerFirst([...tips].reverse())[0]?._rev).toBe(winner);
  });

  it('tell the last word about a claim', () => {
    const lost = attempt('0#1 $$error a');
    const job = tip('1-a', [lost, '0#1 $$complete a']);
    expect(stepOf(job, 'a')?.state).toBe('$$complete');
    expect(stepOf(job, 'b')).toBeUndefined();
    expect(stepOf(job, undefined)).toBeUndefined();
    expect(holds(job, 'a')).toBe(false);
    expect(holds(tip('1-a', ['0#1 $$ready a']), 'a')).toBe(true);
  });

  it('are read whatever is in them', () => {
    expect(stepOf({ _id: 'j', _rev: '1-a', steps: 'none' }, 'a')).toBeUndefined();
    expect(stepOf({ _id: 'j', _rev: '1-a', steps: [null, 7] }, 'a')).toBeUndefined();
  });
});

describe('a document that takes in steps of another tip', () => {
  const name = 'result-0-1.json';
  const step = { ...attempt('0#1 $$complete a'), result: { $attachment: name, bytes: 70_000 } };
  const kept = { [name]: { stub: true } };

  it('takes over the large results that only the other one keeps', () => {
    const other = { ...tip('3-b', [step]), _attachments: kept };
    const taken = withResultsOf(tip('4-a', [step]), other);
    expect(taken['_attachments']).toEqual({ [name]: { from: '3-b', stub: true } });
    expect(borrowedIn(taken)).toEqual([{ name, from: '3-b' }]);
  });

  it.each([
    ['it has none', tip('4-a', ['0#1 $$complete a']), { ...tip('3-b', []), _attachments: kept }],
    ['it keeps them itself', { ...tip('4-a', [step]), _attachments: kept }, tip('3-b', [])],
    ['nobody keeps them', tip('4-a', [step]), tip('3-b', [step])],
  ])('stays as it is when %s', (_title, winner, other) => {
    expect(withResultsOf(winner, other)).toBe(winner);
    expect(borrowedIn(winner)).toEqual([]);
  });

  it('reads attachments that are none', () => {
    expect(borrowedIn({ ...tip('1-a', []), _attachments: { x: null } })).toEqual([]);
  });
});
