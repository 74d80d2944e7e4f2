import { describe, expect, it } from 'vitest';
import { command, mostSignals, receive } from '../../../src/decide/requests/command.js';
import { finish } from '../../../src/decide/finish/finish.js';
import { withRefusal } from '../../../src/decide/requests/refusal.js';
import type { Job } from '../../../src/model/job.js';
import type { JobRequest, RequestAction } from '../../../src/model/request.js';
import type { SignalDocument } from '../../../src/model/signal.js';
import { flow, frozen, liveJob, newJob, t0 } from '../../support/builders.js';

const live = frozen(liveJob(flow(['a', 'b'])));
const awaiting = frozen(liveJob(flow([{ wait: { signal: 'approved' } }])));
const failed = frozen(
  finish(live, { exit: 2, failure: { name: 'Broken', message: 'It is broken.' } }, t0),
);
const request = (action: RequestAction, more: Partial<JobRequest> = {}): JobRequest => ({
  _id: 'r1',
  type: 'request',
  job: 'j',
  action,
  ...more,
});
const signal = (more: Partial<SignalDocument> = {}): SignalDocument => ({
  _id: 's1',
  type: 'signal',
  job: 'j',
  name: 'approved',
  ...more,
});

it('refuses signals when the job has very many', () => {
  const many = Array.from({ length: mostSignals }, (_, i) => ({ id: `x${i}`, name: 'x', at: t0 }));
  const job = frozen({ ...live, signals: many }) as Job;
  const because = `Job j has ${mostSignals} signals already, which is the most.`;
  expect(receive(job, signal(), t0)).toEqual({ kind: 'refused', because });
});

describe('receive', () => {
  it.each<[string, Job]>([
    ['a new job', frozen(newJob())],
    ['a live job', awaiting],
  ])('puts a signal into %s', (_title, job) => {
    expect(receive(job, signal({ data: { n: 1 }, by: 'ann' }), t0 + 5)).toEqual({
      kind: 'applied',
      job: {
        ...job,
        signals: [{ id: 's1', name: 'approved', at: t0 + 5, data: { n: 1 }, by: 'ann' }],
      },
    });
  });

  it('leaves out data and sender when there are none', () => {
    expect(receive(awaiting, signal(), t0)).toEqual({
      kind: 'applied',
      job: { ...awaiting, signals: [{ id: 's1', name: 'approved', at: t0 }] },
    });
  });

  it('keeps the signals that came before', () => {
    const before = { id: 's0', name: 'early', at: t0 - 1 };
    expect(receive({ ...live, signals: [before] }, signal(), t0)).toMatchObject({
      job: { signals: [before, { id: 's1' }] },
    });
  });

  it('wakes a sleeping job', () => {
    const received = receive({ ...live, next_due: t0 + 999 }, signal(), t0);
    expect(received).toMatchObject({ kind: 'applied' });
    expect(received).not.toHaveProperty('job.next_due');
  });

  it('refuses another document under an id that was used, but not what a client sends again', () => {
    const first = receive(live, signal({ _rev: '1-a' }), t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    const because = 'A signal with the id s1 was taken before; send this one under another id.';
    const refused = { kind: 'refused', because };
    const other = signal({ _rev: '3-c', data: 'other' });
    expect(receive(first.job, other, t0)).toEqual(refused);
    expect(receive(first.job, signal({ _rev: '1-a' }), t0)).toEqual({ kind: 'repeated' });
    const told = withRefusal(first.job, other, because, t0);
    expect(told).toMatchObject({ requests: [{ id: 's1', revision: 3, refused: because }] });
    expect(receive(told, other, t0)).toEqual({ kind: 'repeated' });
    expect(receive(told, signal({ _rev: '5-e', data: 'third' }), t0)).toEqual(refused);
  });

  it.each<[string, Partial<SignalDocument>, string]>([
    ['the same', { data: { b: 1, a: 2 } }, 'repeated'],
    ['other data', { data: 2 }, 'refused'],
    ['another name', { data: { a: 2, b: 1 }, name: 'other' }, 'refused'],
  ])('takes %s of a client for the same signal by its content', (_title, more, kind) => {
    const sent = signal({ _id: 'signal:j:x', data: { a: 2, b: 1 } });
    const first = receive(live, sent, t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    const again = { ...sent, _rev: '3-c', ...more };
    expect(receive(first.job, again, t0).kind).toBe(kind);
  });

  it('does not compare data that are in an attachment', () => {
    const data = { $attachment: 'x' };
    const kept = { id: 'signal:j:x', name: 'approved', at: t0, data };
    const sent = signal({ _id: 'signal:j:x', _rev: '3-c', data: 1 });
    expect(receive({ ...live, signals: [kept] }, sent, t0)).toEqual({ kind: 'repeated' });
  });

  it('takes a signal once', () => {
    const first = receive(live, signal(), t0);
    if (first.kind !== 'applied') throw new Error(first.kind);
    expect(receive(first.job, signal(), t0 + 1)).toEqual({ kind: 'repeated' });
    const final = { ...failed, signals: [{ id: 's1', name: 'approved', at: t0 }] };
    expect(receive(final, signal(), t0 + 1)).toEqual({ kind: 'repeated' });
  });

  it('refuses a signal to a final job', () => {
    expect(receive(failed, signal(), t0)).toEqual({
      kind: 'refused',
      because: 'Job j is final already.',
    });
  });
});

describe('a request to retry', () => {
  it('lets a failed job go on and is kept on record', () => {
    expect(command(failed, request('retry', { from: 'b', by: 'ann' }), t0 + 9)).toMatchObject({
      kind: 'applied',
      job: {
        state: '$$ready',
        run: 2,
        redo: [{ from: '1', run: 2 }],
        requests: [{ id: 'r1', action: 'retry', from: 'b', by: 'ann', at: t0 + 9 }],
      },
    });
  });

  it('is refused by a job that has not ended', () => {
    expect(command(live, request('retry'), t0)).toEqual({
      kind: 'refused',
      because: 'Job j has not ended; only a job that has ended can be retried.',
    });
  });

  it('is refused when there is no such step', () => {
    expect(command(failed, request('retry', { from: 'z' }), t0)).toEqual({
      kind: 'refused',
      because: 'Job j has no step "z"; its steps are a-0, b-1; "." is the whole flow.',
    });
  });
});

describe('a request to skip', () => {
  it('leaves the step out and is kept on record', () => {
    expect(command(live, request('skip', { step: 'a' }), t0)).toMatchObject({
      kind: 'applied',
      job: {
        steps: [{ path: '0', state: '$$skipped' }],
        requests: [{ id: 'r1', action: 'skip', step: 'a', at: t0 }],
      },
    });
  });

  it('is refused when it names no step', () => {
    expect(command(live, request('skip'), t0)).toEqual({
      kind: 'refused',
      because: 'Job j has no step ""; its steps are a-0, b-1.',
    });
  });
});

describe('a note', () => {
  const cases: readonly [string, Job, Partial<JobRequest>, object[]][] = [
    ['stands in the job with its writer', live, { by: 'ann' }, [{ text: 'hm', by: 'ann', at: t0 }]],
    ['stands in a final job', failed, {}, [{ text: 'hm', at: t0 }]],
    [
      'comes after those before',
      { ...failed, notes: [1] },
      {},
      [1 as never, { text: 'hm', at: t0 }],
    ],
  ];
  it.each(cases)('%s', (_title, job, more, notes) => {
    expect(command(job, request('note', { text: 'hm', ...more }), t0)).toMatchObject({
      kind: 'applied',
      job: { state: job.state, notes },
    });
  });

  it.each([[{}], [{ text: '' }]])('needs a text: %j', (more) => {
    expect(command(live, request('note', more), t0)).toEqual({
      kind: 'refused',
      because: 'A note needs "text".',
    });
  });
});
