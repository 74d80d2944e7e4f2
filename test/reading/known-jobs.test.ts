import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import type { Job } from '../../src/model/job.js';
import { begun } from '../decide/story.js';
import { knowJob, knownJob, liveJobIn } from '../../src/reading/known-jobs.js';

describe('a job that is known', () => {
  const steps: readonly unknown[] = [];
  const made = { _id: 'a', _rev: '', type: 'job', state: '$$ready', odd: true, steps };
  knowJob(made as unknown as Job);
  const stored: StoredDocument = { ...made, _rev: '1-a' };

  it('is not read again from what was written of it', () => {
    expect(liveJobIn(stored)).toBe(stored);
    expect(liveJobIn(stored)).toBe(stored);
  });

  it.each<[what: string, doc: StoredDocument]>([
    ['another value', { ...stored, odd: false }],
    ['one field more', { ...stored, more: 1 }],
    ['one field less', (({ odd, ...rest }) => rest)(stored)],
    ['another id', { ...stored, _id: 'b' }],
    ['steps of its own, with the same content', { ...stored, steps: [] }],
    ['no steps', { ...stored, steps: undefined }],
  ])('is read where a document has %s', (_what, doc) => {
    expect(liveJobIn(doc)).not.toBe(doc);
  });

  it('is none once it has ended', () => {
    expect(liveJobIn({ ...stored, state: '$$complete' })).toBeUndefined();
    const ended = { ...made, state: '$$complete', steps: [{}] };
    knowJob(ended as unknown as Job);
    expect(knownJob({ ...ended, _rev: '1-a' })).toBeUndefined();
  });

  it('is a job that can be read, where it was not made here', () => {
    const job: StoredDocument = { ...(begun(['a']).job as object), _id: 'c', _rev: '1-a' };
    expect(liveJobIn(job)).toMatchObject({ _id: 'c', steps: job['steps'] });
    expect(liveJobIn({ ...job, tasks: 7 })).toBeUndefined();
    const { steps: _steps, ...rest } = job;
    knowJob(rest as unknown as Job);
    expect(knownJob(rest)).toBeUndefined();
  });
});
