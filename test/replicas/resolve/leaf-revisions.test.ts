import { describe, expect, it } from 'vitest';
import {
  borrowedIn,
  holds,
  stepOf,
  winnerFirst,
  withResultsOf,
} from '../../../src/replicas/resolve/leaf-revisions.js';
import { attempt, leaf } from './leaves.js';

describe('leaves', () => {
  it.each([
    ['the longest history wins', ['9-a', '10-a'], '10-a'],
    ['of equal ones the highest hash', ['3-0f', '3-a0', '3-9f'], '3-a0'],
    ['one alone wins', ['1-a'], '1-a'],
  ])('%s', (_title, revs, winner) => {
    const leaves = revs.map((rev) => leaf(rev, []));
    expect(winnerFirst(leaves)[0]?._rev).toBe(winner);
    expect(winnerFirst([...leaves].reverse())[0]?._rev).toBe(winner);
  });

  it('tell the last word about a claim', () => {
    const lost = attempt('0#1 $$error a');
    const job = leaf('1-a', [lost, '0#1 $$complete a']);
    expect(stepOf(job, 'a')?.state).toBe('$$complete');
    expect(stepOf(job, 'b')).toBeUndefined();
    expect(stepOf(job, undefined)).toBeUndefined();
    expect(holds(job, 'a')).toBe(false);
    expect(holds(leaf('1-a', ['0#1 $$ready a']), 'a')).toBe(true);
  });

  it('are read whatever is in them', () => {
    expect(stepOf({ _id: 'j', _rev: '1-a', steps: 'none' }, 'a')).toBeUndefined();
    expect(stepOf({ _id: 'j', _rev: '1-a', steps: [null, 7] }, 'a')).toBeUndefined();
  });
});

describe('a document that takes in steps of another leaf', () => {
  const name = 'result-0-1.json';
  const step = { ...attempt('0#1 $$complete a'), result: { $attachment: name, bytes: 70_000 } };
  const kept = { [name]: { stub: true } };

  it('takes over the large results that only the other one keeps', () => {
    const other = { ...leaf('3-b', [step]), _attachments: kept };
    const taken = withResultsOf(leaf('4-a', [step]), other);
    expect(taken['_attachments']).toEqual({ [name]: { from: '3-b', stub: true } });
    expect(borrowedIn(taken)).toEqual([{ name, from: '3-b' }]);
  });

  it.each([
    ['it has none', leaf('4-a', ['0#1 $$complete a']), { ...leaf('3-b', []), _attachments: kept }],
    ['it keeps them itself', { ...leaf('4-a', [step]), _attachments: kept }, leaf('3-b', [])],
    ['nobody keeps them', leaf('4-a', [step]), leaf('3-b', [step])],
  ])('stays as it is when %s', (_title, winner, other) => {
    expect(withResultsOf(winner, other)).toBe(winner);
    expect(borrowedIn(winner)).toEqual([]);
  });

  it('reads attachments that are none', () => {
    expect(borrowedIn({ ...leaf('1-a', []), _attachments: { x: null } })).toEqual([]);
  });
});
