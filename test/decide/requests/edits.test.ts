import { describe, expect, it } from 'vitest';
import {
  hasLateEdit,
  refusedEdit,
  withEdits,
  withLateEditsRefused,
} from '../../../src/decide/requests/edits.js';
import { endInvalid, endUnbegun } from '../../../src/decide/finish/finish.js';
import type { FinalJob, Job } from '../../../src/model/job.js';
import { historyOf } from '../../../src/reading/history.js';
import { newJob, t0 } from '../../support/builders.js';
import { begun, story, type Story } from '../story.js';

type Told = Readonly<Record<string, unknown>>;

const requestsOf = ({ job }: Story): readonly Told[] =>
  ((job as Told)['requests'] ?? []) as readonly Told[];
const actionsOf = (told: Story): readonly unknown[] => requestsOf(told).map(({ action }) => action);
const kindsOf = ({ job }: Story): readonly string[] =>
  historyOf(job).flatMap(({ kind, name }) => (/^Request/.test(kind) ? [`${kind} ${name}`] : []));

describe('an edit of a live job', () => {
  it('W1: that pauses it is on record before anything else, once, and so is its end', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.at(10).write({ paused: true });
    expect(told.go()).toMatchObject({ kind: 'write', job: { state: 'a-0' } });
    expect(requestsOf(told)).toEqual([
      { id: 'edit:pause:0', action: 'pause', edited: true, at: t0 + 10 },
    ]);
    expect(told.go()).toMatchObject({ kind: 'wait' });
    told.at(20).did('a');
    told.at(30).write({ paused: false }).go();
    expect(requestsOf(told).slice(1)).toEqual([
      { id: 'edit:resume:1', action: 'resume', edited: true, at: t0 + 30 },
    ]);
    told.at(40).did('b');
    expect(kindsOf(told)).toEqual(['RequestApplied pause', 'RequestApplied resume']);
  });

  it('that cancels it is on record with who and why, before attempts are told to stop', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.at(10).write({ cancel: { by: 'ann', reason: 'late' } });
    expect(told.go()).toMatchObject({ kind: 'write' });
    const record = { id: 'edit:cancel:0', action: 'cancel', by: 'ann', reason: 'late' };
    expect(requestsOf(told)).toEqual([{ ...record, edited: true, at: t0 + 10 }]);
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    told.stopped();
    expect(told.ending).toMatchObject({ state: '$$cancelled' });
    expect(actionsOf(told)).toEqual(['cancel']);
  });

  it('that takes a cancel back is on record, too', () => {
    const told = begun(['a']).write({ cancel: true });
    told.go();
    told.write({ cancel: false }).go();
    told.write({ cancel: true }).go();
    expect(requestsOf(told).map(({ id, withdrawn }) => [id, withdrawn])).toEqual([
      ['edit:cancel:0', undefined],
      ['edit:cancel:1', true],
      ['edit:cancel:2', undefined],
    ]);
  });

  it.each(['pause', 'cancel'] as const)('is none where a %s was requested', (action) => {
    const told = begun(['a']);
    told.ask(action);
    told.go();
    expect(requestsOf(told).map(({ edited }) => edited)).toEqual([undefined]);
  });

  it('counts anew when the job goes on after its end', () => {
    const told = story({ steps: ['a'] });
    told.write({ paused: true }).go();
    told.write({ cancel: true }).go();
    expect(told.ending).toMatchObject({ state: '$$cancelled' });
    told.edit({ retry: true }).go();
    told.go();
    expect(actionsOf(told)).toEqual(['pause', 'cancel', 'retry']);
    told.write({ paused: true, cancel: true }).go();
    expect(actionsOf(told)).toEqual(['pause', 'cancel', 'retry', 'pause', 'cancel']);
  });

  it.each<[unknown, Told]>([
    [true, {}],
    [{ from: 'a', params: { a: { x: 1 } } }, { from: 'a' }],
    [{ from: 5 }, {}],
    ['soon', {}],
  ])(
    'that has it retried, %j, is refused at once and changes nothing at its end',
    (retry, more) => {
      const told = begun(['a']);
      told.at(10).write({ retry }).go();
      expect(told.job).not.toHaveProperty('retry');
      const refused = 'Job j has not ended; only a job that has ended can be retried.';
      const record = { id: 'edit:retry:0', action: 'retry', ...more };
      expect(requestsOf(told)).toEqual([{ ...record, at: t0 + 10, refused }]);
      expect(kindsOf(told)).toEqual(['RequestRefused retry']);
      expect(told.decide()).toMatchObject({ kind: 'wait' });
      told.at(20).broke('a');
      expect(told.ending).toMatchObject({ state: '$$complete', exit: 2 });
      expect(told.decide()).toMatchObject({ kind: 'ignore' });
      // What is told of the end is how it ended.
      expect(refusedEdit(told.job)).toBeUndefined();
    },
  );

  it('that asks for no retry is none', () => {
    const job = { requests: [], retry: false };
    expect(withEdits(job, t0)).toBe(job);
  });

  it('that has it retried is on record each time', () => {
    const told = begun(['a']);
    for (const ms of [10, 20]) told.at(ms).write({ retry: true }).go();
    expect(requestsOf(told).map(({ id }) => id)).toEqual(['edit:retry:0', 'edit:retry:1']);
  });

  it('W4: that is refused keeps no retry after its end from being granted', () => {
    const told = begun(['a']).write({ retry: true });
    told.go();
    told.broke('a').write({ retry: true }).go();
    expect(told.job).toMatchObject({ run: 2, state: 'a-0' });
  });

  it('leaves requests that are no list as they are', () => {
    const job = { requests: 'none', paused: true };
    expect(withEdits(job, t0)).toBe(job);
  });
});

describe('an edit of a job that has not begun', () => {
  it('that cancels it is on record in its end', () => {
    const told = story({ steps: ['a'], job: { cancel: { by: 7, reason: 'no' } as never } });
    told.go();
    expect(told.job).toMatchObject({
      state: '$$cancelled',
      requests: [{ action: 'cancel', reason: 'no' }],
    });
    expect(requestsOf(told)[0]).not.toHaveProperty('by');
  });

  it('that has it retried is refused when it begins', () => {
    const told = begun(['a'], { job: { retry: true } });
    expect(told.job).not.toHaveProperty('retry');
    expect(requestsOf(told)).toMatchObject([{ id: 'edit:retry:0', action: 'retry' }]);
    told.did('a');
    expect(told.decide()).toMatchObject({ kind: 'ignore' });
  });

  it('that has it retried is refused where it ends at once', () => {
    const ended = endUnbegun(newJob({ retry: true }), t0, { exit: 3, failure: none });
    expect(ended).not.toHaveProperty('retry');
    expect(ended['requests']).toMatchObject([{ action: 'retry' }]);
  });

  const none = { name: 'X', message: 'x' };
  const problem = { path: 'cancel', message: 'cancel is 5' };
  const spoilt = { ...newJob(), cancel: 5 };
  it.each<[string, FinalJob, string]>([
    ['is refused', endUnbegun(newJob({ paused: true }), t0, { exit: 3, failure: none }), 'pause'],
    ['cannot be read', endInvalid(spoilt, [problem], t0), 'cancel'],
  ])('W3: leaves no wish behind in a job that %s', (_title, ended, action) => {
    expect(hasLateEdit(ended)).toBe(false);
    expect(ended['requests']).toMatchObject([{ action }]);
  });
});

describe('an edit of a final job', () => {
  function ended(more: Told = {}): Story {
    const told = begun(['a']).write(more);
    return told.did('a');
  }

  it.each<[string, Told, string, Told]>([
    ['a pause', { paused: true }, 'pause', {}],
    ['a pause that cannot be read', { paused: 'yes' }, 'pause', {}],
    [
      'a cancel',
      { cancel: { by: 'ann', reason: 'late' } },
      'cancel',
      { by: 'ann', reason: 'late' },
    ],
    ['a cancel that cannot be read', { cancel: 'now' }, 'cancel', {}],
  ])('with %s is refused beside its end', (_title, change, action, who) => {
    const told = ended();
    const before = told.job;
    told.at(100).write(change).go();
    const refused = 'Job j is final already.';
    const record = { id: `edit:${action}:${before._rev}`, action, ...who, at: t0 + 100, refused };
    expect(told.job).toEqual({ ...before, requests: [record] });
    expect(told.decide()).toMatchObject({ kind: 'ignore' });
    expect(kindsOf(told)).toEqual([`RequestRefused ${action}`]);
    expect(refusedEdit(told.job)).toEqual({ action, refused });
  });

  it('with a pause beside a retry lets it go on, and refuses the pause', () => {
    const told = begun(['a']).broke('a');
    told.write({ paused: true, retry: true }).go();
    const refused = 'Job j is final already.';
    expect(requestsOf(told)).toMatchObject([{ action: 'pause', refused }, { action: 'retry' }]);
    expect(told.job).not.toHaveProperty('paused');
    told.go();
    expect(told.running).toEqual(['a']);
  });

  it('keeps the cancel that ended it', () => {
    const told = begun(['a']).write({ cancel: { by: 'ann' } });
    told.go();
    told.stopped();
    expect(told.job).toMatchObject({ state: '$$cancelled', cancel: { by: 'ann' } });
    expect(told.decide()).toMatchObject({ kind: 'ignore' });
  });

  it('leaves requests that are no list as they are', () => {
    const job = { ...ended().job, requests: 5, paused: true } as unknown as FinalJob;
    const told = withLateEditsRefused(job, t0);
    expect(told).toMatchObject({ requests: 5 });
    expect(hasLateEdit(told)).toBe(false);
    expect(refusedEdit(told)).toBeUndefined();
  });

  it('that was refused is told no more once something else was asked', () => {
    const told = ended().write({ paused: true });
    told.go();
    const asked = { ...(told.job as Job & Told), requests: [...requestsOf(told), { id: 'r' }] };
    expect(refusedEdit(asked)).toBeUndefined();
  });
});
