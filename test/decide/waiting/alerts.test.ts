import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/decide/intent.js';
import type { Child, SubjectFound } from '../../../src/decide/world.js';
import type { LiveJob } from '../../../src/model/job.js';
import { withAlerts } from '../../../src/decide/waiting/alerts.js';
import {
  flow,
  liveJob,
  newJob,
  peer,
  t0,
  world,
  type WorldOptions,
} from '../../support/builders.js';
import { begun, story, type Story } from '../story.js';

type Writing = Extract<Intent, { kind: 'write' }>;
const url = 'https://example.com/hook';
const entry = (on: string, more: Record<string, unknown> = {}) => ({ on: [on], url, ...more });
const free: Readonly<Record<string, Child>> = new Proxy({}, { get: () => ({ kind: 'absent' }) });

/** The notifications that a write names of a job that goes on. */
function named(intent: Intent): readonly string[] {
  const { notifications = [] } = ((intent as Writing).job ?? {}) as {
    readonly notifications?: readonly { readonly id: string }[];
  };
  return notifications.map(({ id }) => id);
}

function waiting(notify: readonly unknown[], more: WorldOptions = {}, timeout = 0): Story {
  return story({
    steps: [{ wait: { signal: 'ok', ...(timeout === 0 ? {} : { timeout }) } }],
    flow: { notify, timeout: 0 },
    world: { children: free, ...more },
  });
}

describe('a job that runs for longer than its flow expects', () => {
  const late = (more: Record<string, unknown> = {}): Story =>
    begun(['a'], {
      flow: { expected: 'PT10M', notify: [entry('late', more)] },
      world: { children: free },
    });

  it('N11: is told once, by a notification that is made before the job names it', () => {
    const told = late();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 600_000 });
    const intent = told.at(600_000).go() as Writing;
    expect(intent).toMatchObject({
      kind: 'write',
      makes: [
        {
          _id: 'j:notify:1:late:0',
          notifies: {
            job: 'j',
            event: 'late',
            status: 'running',
            because: 'It has been running for longer than the expected 10 min.',
            at: t0 + 600_000,
          },
        },
      ],
    });
    expect(intent.job).toMatchObject({
      notifications: [{ id: 'j:notify:1:late:0', run: 1, at: t0 + 600_000, event: 'late' }],
    });
    expect(told.decide()).toMatchObject({ kind: 'wait' });
    expect(told.decide()).not.toHaveProperty('until');
  });

  it('asks first whether the notification is there, and only names one that is', () => {
    const told = late().with({ children: {} }).at(600_000);
    expect(told.decide()).toMatchObject({ kind: 'look_up', children: ['j:notify:1:late:0'] });
    const intent = told.with({ children: { 'j:notify:1:late:0': { kind: 'live' } } }).go();
    expect([named(intent), (intent as Writing).makes]).toEqual([['j:notify:1:late:0'], []]);
  });

  it('is told by each entry after its own time, and by notify lists', () => {
    const told = late({ after: 60_000 }).with({
      notifyLists: [{ of: 'notify:me', at: 1, owner: 'me', entry: { on: ['late'], task: 'page' } }],
    });
    expect(named(told.at(600_000).go())).toEqual(['j:notify:1:late:notify:me:1']);
    expect(told.decide()).toMatchObject({ until: t0 + 660_000 });
    expect(named(told.at(660_000).go())).toHaveLength(2);
  });

  it('counts from `exec_after`, and all time since', () => {
    const told = story({
      steps: ['a'],
      flow: { expected: 600_000, notify: [entry('late')] },
      job: { exec_after: t0 + 50_000 },
      world: { children: free },
    });
    told.go();
    expect(told.at(50_000).go().kind).toBe('claim');
    expect(told.decide()).toMatchObject({ until: t0 + 650_000 });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['nobody asks', { notify: [entry('failed'), 7, { on: 'late' }] }, {}],
    [
      'it is a notification of notifications',
      {},
      { notifies: { job: 'x', run: 1, status: 'failed', depth: 3, since: 1 } },
    ],
    ['it is cancelled', {}, { cancel: true }],
  ])('N13: is not told when %s', (_title, flow, job) => {
    const told = begun(['a'], {
      flow: { expected: 1_000, notify: [entry('late')], ...flow },
      world: { children: free },
    });
    told.write(job);
    const intent = told.at(5_000).decide();
    expect([intent.kind, named(intent)]).not.toEqual(['write', ['j:notify:1:late:0']]);
  });
});

describe('a job that no engine can run', () => {
  const stuck = (steps: readonly string[] = ['a'], more: Record<string, unknown> = {}): Story =>
    story({
      steps: [...steps],
      flow: { notify: [entry('stuck', more)], timeout: 0 },
      world: { children: free, plugins: [] },
    });

  it('is told once for each stay', () => {
    const told = stuck();
    expect(told.go()).toMatchObject({ kind: 'write', job: { stuck_since: t0 } });
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 30_000 });
    const intent = told.at(30_000).go() as Writing;
    expect(intent.makes).toMatchObject([
      {
        notifies: {
          event: 'stuck',
          because: expect.stringContaining('no engine has it') as unknown,
        },
      },
    ]);
    expect(named(intent)).toEqual([`j:notify:1:stuck-${t0}:0`]);
    expect(told.decide()).not.toHaveProperty('until');
    expect(told.with({ plugins: ['a'] }).go()).toMatchObject({ kind: 'claim' });
    expect(told.job).not.toHaveProperty('stuck_since');
  });

  it('is not told when an engine comes in time', () => {
    const told = stuck();
    told.go();
    const intent = told
      .at(20_000)
      .with({ peers: [peer(['a'])] })
      .go();
    expect(intent).toMatchObject({ kind: 'write' });
    expect(told.job).not.toHaveProperty('stuck_since');
    expect(told.decide()).toMatchObject({ kind: 'wait', for: 'engine' });
  });

  it('is not stuck while anything else may move it', () => {
    const told = story({
      steps: [{ parallel: ['a', { wait: { signal: 'x' } }] }],
      flow: { notify: [entry('stuck')], timeout: 0 },
      world: { children: free, plugins: [] },
    });
    told.go();
    expect(told.job).not.toHaveProperty('stuck_since');
    const both = story({
      steps: [{ parallel: ['a', 'b'] }],
      flow: { notify: [entry('stuck')], timeout: 0 },
      world: { children: free, plugins: [] },
    });
    both.go();
    expect(both.job).toMatchObject({ stuck_since: t0 });
  });
});

describe('a job that waits for a person', () => {
  it('N12: is told at once, or after a time, once for each wait', () => {
    const told = waiting([entry('waiting'), entry('waiting', { after: 'PT1H' })]);
    told.go();
    const intent = told.at(1).go() as Writing;
    expect(intent.makes).toMatchObject([
      {
        notifies: {
          event: 'waiting',
          status: 'waiting',
          step: 'wait',
          signal: 'ok',
          because: 'Step wait waits for the signal "ok".',
        },
      },
    ]);
    expect(told.job).toMatchObject({ next_due: t0 + 3_600_000 });
    told.at(3_600_000).go();
    expect(named({ kind: 'write', job: told.job })).toEqual([
      `j:notify:1:waiting-0-${t0}:0`,
      `j:notify:1:waiting-0-${t0}:1`,
    ]);
    expect(told.decide()).toMatchObject({ kind: 'wait', asleep: true });
    expect(told.decide()).not.toHaveProperty('until');
  });

  it.each([
    ['waiting', { wait: { signal: 'ok' } }],
    ['stuck', 'nowhere'],
  ])('N14: is written before anything is asked for: %s', (event, step) => {
    const told = story({
      steps: [step],
      flow: { notify: [entry(event, { after: 0 })], timeout: 0 },
      world: { plugins: [] },
    });
    for (const ms of [0, 1, 2]) {
      expect(told.at(ms).decide()).toMatchObject({ kind: 'write' });
    }
    told.go();
    const asked = [3, 4].map((ms) => told.at(ms).decide());
    expect(asked[0]).toMatchObject({ kind: 'look_up' });
    expect(asked[1]).toEqual(asked[0]);
  });

  it('sleeps on when nobody is to be told any more', () => {
    const entry = { on: ['waiting' as const], url, after: 60_000 };
    const around = { notifyLists: [{ of: 'l', at: 0, owner: 'me', entry }] };
    const told = waiting([], around, 3_600_000);
    told.go();
    expect(told.job).toMatchObject({ next_due: t0 + 60_000 });
    told.at(60_000).with({ notifyLists: [] }).go();
    expect(told.job).toMatchObject({ next_due: t0 + 3_600_000 });
  });

  it.each<[string, Record<string, unknown>]>([
    ['an event', { wait: { event: 'paid' } }],
    ['a time', { delay: 60_000 }],
    ['a child job', { flow: 'inner' }],
  ])('is none that waits for %s', (_title, step) => {
    const told = story({
      steps: [step],
      flow: { notify: [entry('waiting')] },
      world: { children: free },
    });
    expect(named(told.go())).toEqual([]);
  });
});

it('a slice of a map tells nothing, because it ends with its map', () => {
  const notify = [entry('late')];
  const job = liveJob(flow(['a'], { notify, expected: 1_000 }), {
    slice: { path: '', total: 1, before: [] },
  });
  const around = world({ children: free });
  const wait = { kind: 'wait', because: 'x' } as const;
  expect(withAlerts(job, wait, t0 + 5_000, around)).toEqual({ kind: 'waits', job, wait });
});

it('a step that its plugin has wait counts from then on', () => {
  const job = liveJob(flow(['a'], { notify: [entry('waiting')] }));
  const step = {
    ...{ index: 0, path: '0', name: 'a', task: 'a', attempt: 1, phase: 'main' },
    ...{ state: '$$waiting', signal: 'ok', accepted: t0, since: t0 + 7 },
  } as LiveJob['steps'][number];
  const wait = { kind: 'wait', because: 'x' } as const;
  const told = withAlerts({ ...job, steps: [step] }, wait, t0 + 9, world({ children: free }));
  expect(told).toMatchObject({
    kind: 'tells',
    intent: { makes: [{ _id: `j:notify:1:waiting-0-${t0 + 7}:0` }] },
  });
});

describe('the notification of an alert', () => {
  const notifies = { job: 's', run: 1, start: 5, status: 'running', event: 'late', depth: 1 };
  const subject = (doc: Record<string, unknown>): Record<string, SubjectFound> => ({
    s: { kind: 'there', doc: { _id: 's', start: 5, run: 1, state: 'a-0', ...doc } },
  });
  const decided = (doc: Record<string, unknown>): Intent =>
    story({ steps: ['a'], job: newJob({ notifies }), world: { subjects: subject(doc) } }).decide();

  it('waits until its subject names it, and says what it knew', () => {
    expect(decided({})).toMatchObject({
      kind: 'wait',
      because: 'It waits until job s is stored as late.',
    });
    const at = { notifications: [{ id: 'j', run: 1, at: 7, event: 'late' }] };
    const known = { notifies: { ...notifies, since: t0 } };
    expect(decided(at)).toMatchObject({ kind: 'claim', job: known });
    const end = { state: '$$complete', exit: 0, end: 7 };
    expect(decided({ ...at, ...end })).toMatchObject({ kind: 'claim', job: known });
  });

  it('ends when its subject went on before it was named', () => {
    expect(decided({ state: '$$complete', exit: 0, end: 7 })).toMatchObject({
      kind: 'write',
      job: { result: { skipped: 'Job s went on before it was stored as late.' } },
    });
  });
});
