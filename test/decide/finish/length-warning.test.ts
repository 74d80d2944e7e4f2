import { describe, expect, it } from 'vitest';
import { withLengthWarning } from '../../../src/decide/finish/length-warning.js';
import type { LiveJob } from '../../../src/model/job.js';
import { newJob } from '../../support/builders.js';
import { story } from '../story.js';

function jobOf(steps: number, more: object = {}): LiveJob {
  const told = story({ steps: ['a'] });
  told.go();
  const [step] = told.liveJob.steps;
  const list = Array.from({ length: steps }, () => ({ ...step, result: 'x'.repeat(100) }));
  return { ...told.liveJob, ...more, steps: list } as LiveJob;
}

describe('a job that nears the greatest length of a document', () => {
  // Shows X-49.
  it('is told so once, with what to do, before it is too long', () => {
    const job = jobOf(200);
    const length = JSON.stringify(job).length;
    const warned = withLengthWarning(job, length * 1.2);
    expect(warned.problems).toEqual([
      { path: '', message: expect.stringMatching(/^The job is longer than \d+ bytes/) as string },
    ]);
    expect(withLengthWarning(warned, length * 1.2)).toBe(warned);
    expect(withLengthWarning(job, length * 2)).toBe(job);
  });

  it('counts its parameters and data', () => {
    const long = { x: 'y'.repeat(100_000) };
    expect(withLengthWarning(jobOf(100, { params: long, data: long }), 250_000)).toHaveProperty(
      'problems',
    );
    expect(withLengthWarning(jobOf(100), 250_000)).not.toHaveProperty('problems');
  });

  it('has many steps, and has not ended', () => {
    expect(withLengthWarning(jobOf(99), 1)).not.toHaveProperty('problems');
    expect(withLengthWarning(newJob(), 1)).not.toHaveProperty('problems');
  });
});
