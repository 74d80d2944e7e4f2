import { describe, expect, it } from 'vitest';
import { skippableIn } from '../../src/reading/skip.js';
import { newJob } from '../support/builders.js';
import { begun } from '../decide/story.js';

const list = { world: { freeSlots: 9 } };

describe('the steps that may be skipped', () => {
  it('are those that are not done, by their path', () => {
    const told = begun(['a', 'b', 'c']).did('a');
    expect(['0', '1', '2', '3'].filter(skippableIn(told.job))).toEqual(['1', '2']);
  });

  it('are those of one item, and no structure', () => {
    const told = begun([{ map: { over: [1, 2], do: 'a' } }], list).did('0.map.0');
    const paths = ['0', '0.map.*', '0.map.0', '0.map.1', '0.map.2'];
    expect(paths.filter(skippableIn(told.job))).toEqual(['0.map.1']);
  });

  it('are of a failed job those that its next run would begin', () => {
    const told = begun(['a', 'b', 'c']).did('a').broke('b');
    expect(told.job).toMatchObject({ exit: 2 });
    expect(['0', '1', '2'].filter(skippableIn(told.job))).toEqual(['1', '2']);
  });

  it('are none of a job that has succeeded, or has not begun', () => {
    expect(skippableIn(begun(['a']).did('a').job)('0')).toBe(false);
    expect(skippableIn(newJob())('0')).toBe(false);
  });
});
