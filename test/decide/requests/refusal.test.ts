import { describe, expect, it } from 'vitest';
import { mostRefusals, withRefusal } from '../../../src/decide/requests/refusal.js';
import type { Job } from '../../../src/model/job.js';
import type { JobRequest } from '../../../src/model/request.js';
import { newJob, t0 } from '../../support/builders.js';

const asked: JobRequest = {
  _id: 'r',
  type: 'request',
  job: 'j',
  action: 'skip',
  step: 'x',
  by: 'ann',
};
const requestsOf = (job: Job): unknown => (job as Record<string, unknown>)['requests'];

describe('withRefusal', () => {
  it('keeps what was asked, by whom, when, and why it was refused', () => {
    const job = newJob();
    const told = withRefusal(job, asked, 'There is no such step.', t0);
    expect(told).toEqual({
      ...job,
      requests: [
        {
          id: 'r',
          action: 'skip',
          step: 'x',
          by: 'ann',
          at: t0,
          refused: 'There is no such step.',
        },
      ],
    });
    expect(withRefusal(told, asked, 'Again.', t0 + 1)).toBe(told);
  });

  it('changes nothing else of a final job', () => {
    const final = {
      ...newJob(),
      state: '$$complete',
      exit: 0,
      requests: 'spoilt',
    } as unknown as Job;
    const signal = { _id: 's', type: 'signal', job: 'j', name: 'go', data: 'secret' } as const;
    expect(withRefusal(final, signal, 'It has ended.', t0)).toEqual({
      ...final,
      requests: [{ id: 's', action: 'signal', name: 'go', at: t0, refused: 'It has ended.' }],
    });
  });

  it('keeps a limited number of refusals, and all that was applied', () => {
    const applied = { id: 'first', action: 'note', at: t0 };
    let job: Job = newJob({ requests: [applied] });
    for (let n = 0; n <= mostRefusals; n += 1) {
      job = withRefusal(job, { ...asked, _id: `r${n}` }, 'No.', t0);
    }
    const kept = requestsOf(job) as { id: string }[];
    expect(kept).toHaveLength(mostRefusals + 1);
    expect(kept.slice(0, 2).map(({ id }) => id)).toEqual(['first', 'r1']);
  });
});

it('leaves alone what is no record of a request', () => {
  const final = { ...newJob(), state: '$$complete', requests: [null, 5, { id: 'x' }] };
  const told = withRefusal(final as unknown as Job, asked, 'It is final.', t0);
  expect(requestsOf(told)).toEqual([null, 5, { id: 'x' }, expect.objectContaining({ id: 'r' })]);
});
