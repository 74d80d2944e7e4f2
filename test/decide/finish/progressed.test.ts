import { describe, expect, it } from 'vitest';
import { attemptCountsOf } from '../../../src/decide/finish/progressed.js';
import type { Job } from '../../../src/model/job.js';
import { newJob } from '../../support/builders.js';
import { begun } from '../story.js';

describe('progressOf', () => {
  it('differs when a step has begun and when one has ended', () => {
    const told = begun(['a', 'b']);
    const running = attemptCountsOf(told.job);
    told.did('a');
    expect(attemptCountsOf(told.job)).not.toBe(running);
    expect(attemptCountsOf({ ...told.job, paused: true })).toBe(attemptCountsOf(told.job));
  });

  it.each([
    [newJob(), '0:0'],
    [{ ...newJob(), state: '$$complete' } as unknown as Job, '0:0'],
    [{ ...newJob(), state: '$$complete', steps: [null, { end: 1 }] } as unknown as Job, '2:1'],
  ])('reads any job %#', (job, progress) => {
    expect(attemptCountsOf(job)).toBe(progress);
  });
});
