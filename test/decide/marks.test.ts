import { describe, expect, it } from 'vitest';
import { markAt, marksAt, roundsOf } from '../../src/decide/marks.js';
import { begun } from './story.js';

describe('what was found out about a structure', () => {
  it('is the last answer, or all of them, of those that were answered', () => {
    const told = begun([{ loop: { max: 2, do: 'a' } }, 'b'])
      .did('a')
      .did('a');
    const job = told.liveJob;
    expect(marksAt(job, '0')).toEqual([{ again: true }, { again: true }, { again: false }]);
    expect(markAt(job, '0')).toEqual({ again: false });
    expect(roundsOf(job, '0')).toBe(2);
    expect(markAt(job, '1')).toBeUndefined();
    expect(markAt(job, '7')).toBeUndefined();
  });

  it('is nothing in particular where somebody spoilt it', () => {
    const told = begun([{ map: { over: [1], do: 'a' } }]);
    const steps = told.steps.map((step) => (step.path === '0' ? { ...step, result: 7 } : step));
    expect(markAt({ ...told.liveJob, steps }, '0')).toEqual({});
  });
});
