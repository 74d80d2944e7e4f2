import { describe, expect, it } from 'vitest';
import {
  emptyJob,
  jobToSubmit,
  mistakesInJob,
  type JobDraft,
} from '../../src/pages/form/job-draft.js';
import { fromInput, localText, toInput } from '../../src/pages/form/moments.js';

const now = Date.parse('2026-11-21T10:00:30Z');
const draft = (part: Partial<JobDraft> = {}): JobDraft => ({ ...emptyJob('me', now), ...part });

describe('the job that a form makes', () => {
  it('says no more than was filled in', () => {
    expect(jobToSubmit('f', {}, draft(), now)).toEqual({ type: 'job', flow: 'f', owner: 'me' });
    expect(jobToSubmit('f', { a: 1 }, draft({ owner: ' ' }), now)).toEqual({
      type: 'job',
      flow: 'f',
      params: { a: 1 },
    });
  });

  it('says everything that was', () => {
    const given = draft({
      priority: '7',
      tags: ' red, , green ',
      keys: 'order=17\n name = a=b \n\n',
      start: 'later',
      delay: '1.5',
      unit: 'hours',
      target: ' t ',
      queue: 'slow',
    });
    expect(mistakesInJob(given)).toEqual({});
    expect(jobToSubmit('f', undefined, given, now)).toEqual({
      type: 'job',
      flow: 'f',
      owner: 'me',
      priority: 7,
      tags: ['red', 'green'],
      keys: { order: '17', name: 'a=b' },
      exec_after: now + 5_400_000,
      target: 't',
      queue: 'slow',
    });
  });

  it('begins at the time that was chosen, in the zone of whoever chose it', () => {
    const at = new Date(2026, 11, 24, 18, 30);
    const job = jobToSubmit('f', {}, draft({ start: 'at', at: '2026-12-24T18:30' }), now);
    expect(job.exec_after).toBe(at.getTime());
  });

  it.each<readonly [Partial<JobDraft>, string]>([
    [{ priority: '1000' }, 'priority'],
    [{ priority: '1.5' }, 'priority'],
    [{ priority: 'high' }, 'priority'],
    [{ start: 'later', delay: '' }, 'exec_after'],
    [{ start: 'later', delay: '-1' }, 'exec_after'],
    [{ start: 'at', at: '' }, 'exec_after'],
    [{ keys: 'a=1\nb' }, 'keys'],
    [{ keys: '=1' }, 'keys'],
  ])('is not made of %j', (part, key) => {
    expect(Object.keys(mistakesInJob(draft(part)))).toEqual([key]);
  });
});

describe('moments', () => {
  it('come back as the same moment', () => {
    for (const value of ['2026-11-21T10:00:00.000Z', '2026-07-01T00:30:15.000Z']) {
      expect(fromInput(toInput(value, 'date-time'), 'date-time')).toBe(value);
    }
    const shown = localText(new Date(2026, 0, 2, 3, 4));
    expect(shown).toBe('2026-01-02T03:04');
    expect(fromInput('10:30', 'time')).toMatch(/^10:30:00(?:Z|[+-]\d\d:\d\d)$/);
    expect(toInput('10:30:00+01:00', 'time')).toBe('10:30:00');
    expect(toInput('nonsense', 'date-time')).toBe('');
  });
});
