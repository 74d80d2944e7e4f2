import { describe, expect, it } from 'vitest';
import { command } from '../../../src/decide/requests/command.js';
import { finish } from '../../../src/decide/finish/finish.js';
import type { Job, LiveJob } from '../../../src/model/job.js';
import type { JobRequest, RequestAction } from '../../../src/model/request.js';
import { flow, frozen, liveJob, newJob, t0 } from '../../support/builders.js';

const request = (action: RequestAction, more: Partial<JobRequest> = {}): JobRequest => ({
  _id: 'r1',
  type: 'request',
  job: 'j',
  action,
  ...more,
});
const live = liveJob(flow(['a']));

describe('command', () => {
  const cases: readonly [RequestAction, Job, object][] = [
    ['cancel', live, { cancel: { by: 'ann', reason: 'late' } }],
    ['cancel', newJob(), { cancel: { by: 'ann', reason: 'late' } }],
    ['pause', live, { paused: true }],
    ['resume', { ...live, paused: true }, { paused: false }],
  ];
  it.each(cases)('applies %s and keeps a record of it', (action, job, change) => {
    const who = { by: 'ann', reason: 'late' };
    const applied = command(frozen(job), request(action, who), t0);
    expect(applied).toEqual({
      kind: 'applied',
      job: { ...job, ...change, requests: [{ id: 'r1', action, ...who, at: t0 }] },
    });
  });

  it('leaves out who and why when nobody said', () => {
    expect(command(live, request('cancel'), t0)).toMatchObject({
      job: { cancel: {}, requests: [{ id: 'r1', action: 'cancel', at: t0 }] },
    });
  });

  it('applies a request once', () => {
    const first = command(live, request('pause'), t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    expect(command(first.job, request('pause'), t0)).toEqual({ kind: 'repeated' });
    const second = command(first.job, request('resume', { _id: 'r2' }), t0);
    expect(second).toMatchObject({
      job: { paused: false, requests: [{ id: 'r1' }, { id: 'r2' }] },
    });
  });

  it('refuses another document under an id that was used', () => {
    const first = command(live, request('pause'), t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    const because = 'A request with the id r1 was taken before; send this one under another id.';
    const second = request('resume', { _rev: '3-c' });
    expect(command(first.job, second, t0)).toEqual({ kind: 'refused', because });
    const later = command(live, second, t0);
    expect(later).toMatchObject({ job: { requests: [{ id: 'r1', revision: 3 }] } });
  });

  it('takes the cancel request of a parent once, however often it was stored', () => {
    const word = request('cancel', { _id: 'request:j:parent:1' });
    const first = command(live, word, t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    expect(command(first.job, { ...word, _rev: '3-c' }, t0)).toEqual({ kind: 'repeated' });
  });

  it('knows a request again that ended its job', () => {
    const cancelled = command(live, request('cancel'), t0);
    if (cancelled.kind !== 'applied') throw new Error(cancelled.kind);
    const final = finish(cancelled.job as LiveJob, { exit: 130 }, t0);
    expect(command(final, request('cancel'), t0)).toEqual({ kind: 'repeated' });
  });

  // Shows I-01.
  it('refuses a request to a final job', () => {
    const final = finish(live, { exit: 0 }, t0);
    expect(command(final, request('cancel'), t0)).toEqual({
      kind: 'refused',
      because: 'Job j is final already.',
    });
  });

  it('replaces a record that is none', () => {
    const job = newJob({ requests: 'text' });
    expect(command(job, request('pause'), t0)).toMatchObject({ job: { requests: [{ id: 'r1' }] } });
  });
});
