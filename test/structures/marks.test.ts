import { describe, expect, it } from 'vitest';
import { jobSteps } from '../../src/reading/attempts.js';
import { roundsOf } from '../../src/structures/loop.js';
import { countOf } from '../../src/structures/map-slices.js';
import { hasItem } from '../../src/structures/map.js';
import { markAt, marksAt } from '../../src/structures/marks.js';
import { begun } from '../decide/story.js';

describe('what was found out about a structure', () => {
  it('is the last answer, or all of them, of those that were answered', () => {
    const told = begun([{ loop: { max: 2, do: 'a' } }, 'b'])
      .did('a')
      .did('a');
    const job = jobSteps(told.liveJob);
    expect(marksAt(job, '0')).toEqual([
      { again: true, round: 0 },
      { again: true, round: 1 },
      { again: false, round: 2 },
    ]);
    expect(markAt(job, '0')).toEqual({ again: false, round: 2 });
    expect(roundsOf(job, '0')).toBe(2);
    expect(markAt(job, '1')).toBeUndefined();
    expect(markAt(job, '7')).toBeUndefined();
  });

  it('is nothing in particular where somebody spoilt it', () => {
    const told = begun([{ map: { over: [1], do: 'a' } }]);
    const steps = told.steps.map((step) => (step.path === '0' ? { ...step, result: 7 } : step));
    expect(markAt(jobSteps({ ...told.liveJob, steps }), '0')).toEqual({});
  });

  it.each([
    ['its items', { items: [1, 2] }, 2],
    ['how many there were', { count: 3 }, 3],
    ['nothing, somebody spoilt it', {}, 0],
  ])('tells the number of items by %s', (_title, mark, count) => {
    expect(countOf(mark)).toBe(count);
  });

  it.each([
    ['none of a list that is not known', undefined, 0, false],
    ['those of the whole list', { items: [1, 2] }, 1, true],
    ['no further ones', { items: [1, 2] }, 2, false],
    ['in a slice its own', { items: [1, 2], from: 4 }, 5, true],
    ['in a slice none before it', { items: [1, 2], from: 4 }, 3, false],
    ['none that slices go over', { items: [1, 2], slice: 1 }, 0, false],
  ])('says which items a job has: %s', (_title, mark, number, has) => {
    expect(hasItem(mark, number)).toBe(has);
  });
});
