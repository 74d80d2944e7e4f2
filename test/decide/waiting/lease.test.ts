import { BigResult } from '../../../src/model/big-result.js';
import { describe, expect, it } from 'vitest';
import { receive } from '../../../src/decide/requests/command.js';
import {
  leaseMsOf,
  renewLease,
  returnLease,
  takeOffer,
} from '../../../src/decide/waiting/lease.js';
import type { Job, LiveJob } from '../../../src/model/job.js';
import type { SignalDocument } from '../../../src/model/signal.js';
import type { WaitingStep } from '../../../src/model/step.js';
import { leaseName, offerName } from '../../../src/model/work.js';
import { frozen, newJob, t0, task } from '../../support/builders.js';
import { begun, endings, type Story } from '../story.js';

const offer = offerName({ queue: 'mail', priority: 500, at: t0, id: 'o1' });
const lease = leaseName('l1');
const wish = { worker: 'w1', id: 'l1' };

/** A step that its plugin has offered to workers. */
function offered(params: Readonly<Record<string, unknown>> = {}, retry = 0): Story {
  const told = begun([{ task: 'a', params, retry: { limit: retry, delay: 500 } }, 'b']);
  told.end({ kind: 'wait', signal: offer });
  return told;
}

/** The same in the hands of a worker. */
function leased(params: Readonly<Record<string, unknown>> = {}, retry = 0): Story {
  const told = offered(params, retry);
  return told.edit(taken(told, told.now - t0) ?? {});
}

function taken(told: Story, ms = 0, more: { readonly leaseMs?: number } = {}): LiveJob | undefined {
  return takeOffer(told.liveJob, offer, { ...wish, ...more }, t0 + ms);
}

describe('a step that is offered to workers', () => {
  it('says in which queue it waits, and nothing else about signals', () => {
    expect(offered().decide()).toMatchObject({
      kind: 'wait',
      because: 'Step a waits for a worker (queue "mail").',
      asleep: true,
    });
  });

  it('belongs to whoever takes it first, until its lease is over', () => {
    const told = offered();
    const job = taken(told, 10);
    expect(job?.steps[0]).toMatchObject({
      ...{ state: '$$waiting', signal: lease, worker: 'w1', leased: t0 + 10 },
      until: t0 + 30_010,
    });
    expect(takeOffer(job as LiveJob, offer, { worker: 'w2', id: 'l2' }, t0 + 11)).toBeUndefined();
    expect(told.edit(job ?? {}).decide()).toMatchObject({
      because: 'Step a waits for worker "w1".',
      until: t0 + 30_010,
    });
  });

  it('is leased no longer than the time for waiting and all attempts lasts', () => {
    const told = begun(['a', 'b'], { tasks: [task('a', { total_timeout: 900 })] });
    told.end({ kind: 'wait', signal: offer });
    const job = taken(told, 100);
    expect(job?.steps[0]).toMatchObject({ worker: 'w1', until: t0 + 900 });
    told
      .edit(job ?? {})
      .at(900)
      .go();
    expect(told.ending).toMatchObject({ exit: 1, failure: 'TotalTimeout' });
  });

  it('is leased as long as the worker asks, else as its task says', () => {
    const until = (job: LiveJob | undefined) => job?.steps[0]?.['until'];
    expect(until(taken(offered(), 0, { leaseMs: 700 }))).toBe(t0 + 700);
    expect(until(taken(offered({ worker: { lease: 900 } })))).toBe(t0 + 900);
    expect(until(taken(offered({ worker: { lease: 900, timeout: 400 } })))).toBe(t0 + 400);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['is paused', { paused: true }],
    ['has been paused', { state: '$$paused' }],
    ['is to be cancelled', { cancel: { by: 'ann' } }],
  ])('is not to be had while its job %s', (_title, change) => {
    const told = offered().edit(change);
    expect(taken(told)).toBeUndefined();
  });

  it('is to be had where the wish to cancel says no', () => {
    expect(taken(offered().edit({ cancel: false }))).toBeDefined();
  });

  it('is none when it waits for another signal', () => {
    const told = begun([{ wait: { signal: 'go' } }]);
    expect(takeOffer(told.liveJob, 'go', wish, t0)).toBeUndefined();
  });
});

describe('the time of a sleeping job', () => {
  it.each([
    ['is the end of the lease where nothing comes before', 9e15, 30_000],
    ['stays where something comes before', t0 + 5, 5],
  ])('%s', (_title, due, ms) => {
    const told = offered().edit({ next_due: due });
    expect(taken(told)?.next_due).toBe(t0 + ms);
  });

  it('moves with the lease, and is none for a job that is awake', () => {
    const told = leased().edit({ next_due: t0 + 30_000 });
    expect(renewLease(told.liveJob, lease, {}, t0 + 1000)?.next_due).toBe(t0 + 31_000);
    expect(taken(offered())).not.toHaveProperty('next_due');
  });
});

describe('a lease', () => {
  it('is renewed as it was agreed, or as the worker asks now', () => {
    const told = leased();
    const renewed = renewLease(told.liveJob, lease, {}, t0 + 1000);
    expect(renewed?.steps[0]).toMatchObject({ renewed: t0 + 1000, until: t0 + 31_000 });
    const shorter = renewLease(renewed as LiveJob, lease, { leaseMs: 200 }, t0 + 2000);
    expect(shorter?.steps[0]).toMatchObject({ until: t0 + 2200 });
    expect(leaseMsOf(shorter?.steps[0] as WaitingStep)).toBe(200);
  });

  it('is not renewed when it is over, was never given, or is that of another', () => {
    expect(renewLease(leased().liveJob, lease, {}, t0 + 30_000)).toBeUndefined();
    expect(renewLease(offered().liveJob, offer, {}, t0)).toBeUndefined();
    expect(renewLease(leased().liveJob, 'lease/other', {}, t0)).toBeUndefined();
  });

  it('K4: that is given back stands in line where it stood, and nothing is counted', () => {
    const told = leased({}, 1);
    const job = returnLease(told.liveJob, lease, t0 + 10) as LiveJob;
    const [step] = job.steps;
    expect(step).toMatchObject({ state: '$$waiting', signal: offer, attempt: 1 });
    for (const key of ['worker', 'leased', 'until', 'offer']) expect(step).not.toHaveProperty(key);
    expect(takeOffer(job, offer, { worker: 'w2', id: 'l2' }, t0 + 11)?.steps).toHaveLength(1);
    expect(returnLease(told.liveJob, 'lease/other', t0)).toBeUndefined();
    expect(returnLease(told.liveJob, lease, t0 + 30_000)).toBeUndefined();
    const asleep = leased().edit({ next_due: t0 + 30_000, expires: t0 + 20_000 }).liveJob;
    expect(returnLease(asleep, lease, t0 + 10)?.next_due).toBe(t0 + 30_000);
  });

  it('K5: without the name of a worker is that of the first one that renews it by a name', () => {
    const renewed = renewLease(leased().liveJob, lease, { worker: 'w9' }, t0 + 1000);
    expect(renewed?.steps[0]).toMatchObject({ worker: 'w9', until: t0 + 31_000 });
  });

  it('lasts as its task says where the step has a time of its own before', () => {
    const step = { ...offered().steps[0], until: t0 + 5 } as WaitingStep;
    expect(leaseMsOf(step)).toBe(30_000);
  });

  it('that is over fails the attempt, which its policy tries again', () => {
    const told = leased({}, 1).at(30_000);
    told.go();
    expect(told.steps[0]).toMatchObject({
      // Whoever is lost says nothing about the work: the next one may have it at once.
      ...{ state: '$$timeout', exit: 1, due: t0 + 30_000 },
      failure: {
        name: 'WorkerLost',
        message: 'Worker "w1" did not answer, and its lease was not renewed for 30000 ms.',
      },
    });
    told.go();
    expect(told.running).toEqual(['a']);
  });

  it('that was renewed as long as an attempt may take ends as too late', () => {
    const told = leased({ worker: { timeout: 40_000 } });
    const renewed = renewLease(told.liveJob, lease, {}, t0 + 20_000);
    told
      .edit(renewed ?? {})
      .at(40_000)
      .go();
    expect(told.steps[0]).toMatchObject({
      state: '$$timeout',
      failure: { name: 'StepTimeout', message: 'The attempt took longer than its 40000 ms.' },
    });
  });
});

describe('what a worker answers', () => {
  const failing = (told: Story, more: Readonly<Record<string, unknown>> = {}): Story => {
    const failure = { name: 'Smtp', message: 'Refused.', ...more };
    const signal = { _id: 's1', type: 'signal', job: 'j', name: lease, failure } as const;
    const commanded = receive(told.job, signal, told.now);
    if (commanded.kind !== 'applied') throw new Error(commanded.kind);
    told.job = frozen(commanded.job);
    told.go();
    return told;
  };

  it('is the result of the step', () => {
    const told = leased().signal(lease, { sent: 1 });
    expect(told.steps[0]).toMatchObject({ state: '$$complete', result: { sent: 1 }, worker: 'w1' });
    expect(told.running).toEqual(['b']);
  });

  it('fails the step by its policy when it is a failure, once', () => {
    const told = failing(leased({}, 1));
    expect(told.steps[0]).toMatchObject({
      ...{ state: '$$error', exit: 2, due: t0 + 500, signal_id: 's1' },
      failure: { name: 'Smtp', message: 'Refused.', step: 'a' },
    });
    expect(told.liveJob.signals).toEqual([
      { id: 's1', name: lease, at: t0, failure: { name: 'Smtp', message: 'Refused.' } },
    ]);
  });

  it('ends the retries when it says that trying again is in vain', () => {
    const told = failing(leased({}, 5), { retryable: false });
    expect(told.ending).toEqual({ ...endings.badly, failure: 'Smtp' });
  });
});

describe('a long answer of a worker', () => {
  const data = { text: 'long' };
  const big = new BigResult(data, 70_000);
  const signal = { _id: 's1', type: 'signal', job: 'j', name: lease, data } as const;
  const name = 'result-0-1.json';

  it('is the result of its step, as an attachment of the job', () => {
    const told = leased();
    const received = receive(told.liveJob, signal, told.now, big);
    if (received.kind !== 'applied') throw new Error(received.kind);
    const reference = { $attachment: name, bytes: 70_000 };
    expect(received.job).toMatchObject({
      signals: [{ id: 's1', data: reference }],
      _attachments: { [name]: { content_type: 'application/json', data: big } },
    });
    told.edit(received.job);
    expect(told.decide()).toMatchObject({
      job: { steps: [{ state: '$$complete', result: reference }, { name: 'b' }] },
    });
  });

  const ofDecider = (): LiveJob => {
    const { liveJob } = leased();
    return { ...liveJob, steps: liveJob.steps.map((step) => ({ ...step, seen: 0 })) };
  };
  it.each<[string, Job, SignalDocument]>([
    ['nobody has the step', offered().liveJob, signal],
    ['it is for another lease', leased().liveJob, { ...signal, name: leaseName('l2') }],
    ['it is a signal to whoever waits', offered().liveJob, { ...signal, name: offer }],
    ['the job has not begun', newJob(), signal],
    ['the step decides what follows', ofDecider(), signal],
  ])('stays in the job where %s', (_title, job, given) => {
    const received = receive(job, given, t0, big);
    expect(received).toMatchObject({ job: { signals: [{ data }] } });
    expect(received).not.toHaveProperty('job._attachments');
  });
});
