import { describe, expect, it } from 'vitest';
import {
  asReady,
  holds,
  stepOf,
  winnerFirst,
  withClaims,
} from '../../../src/decide/copies/tips.js';
import type { LiveStep } from '../../../src/model/step.js';
import { attempt, tip, told } from './tips.js';

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

  it('carry claims that have not begun, and that run', () => {
    const claim = attempt('1#1 $$active b') as LiveStep;
    const job = tip('1-a', ['0#1 $$complete a', claim]);
    const ready = withClaims(job, [claim], '$$ready');
    expect(told(ready)).toEqual(['0#1 $$complete a', '1#1 $$ready b']);
    expect(stepOf(ready, 'b')).not.toHaveProperty('start');
    expect(withClaims(ready, [claim], '$$active')).toEqual(job);
    expect(asReady(claim)).toEqual(stepOf(ready, 'b'));
  });
});
