import { describe, expect, it } from 'vitest';
import { progressOf } from '../../../src/decide/finish/progressed.js';
import type { Job } from '../../../src/model/job.js';
import { newJob } from '../../support/builders.js';
import { begun } from '../story.js';

describe('progressOf', () => {
  it('differs when a step has begun and when one has ended', () => {
    const told = begun(['a', 'b']);
    const running = progressOf(told.job);
    told.did('a');
    expect(progressOf(told.job)).not.toBe(running);
    expect(progressOf({ ...told.job, paused: true })).toBe(progressOf(told.job));
  });

  it.each([
    [newJob(), '0:0'],
    [{ ...newJob(), state: '$$complete' } as unknown as Job, '0:0'],
    [{ ...newJob(), state: '$$complete', steps: [null, { end: 1 }] } as unknown as Job, '2:1'],
  ])('reads any job %#', (job, progress) => {
    expect(progressOf(job)).toBe(progress);
  });
});
