import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/decide/decide.js';
import { leftBy } from '../../../src/decide/finish/abandoned.js';
import { writeDecision, writeJob, type EndedAttempt } from '../../../src/engine/loop/write-job.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { FinalJob, LiveJob } from '../../../src/model/job.js';
import type { LiveStep } from '../../../src/model/step.js';
import { flow, liveJob, task, t0, world } from '../../support/builders.js';
import { writeParts, type Given } from './write-parts.js';

const before: LiveJob = liveJob(flow(['a']));
const stored = before as unknown as StoredDocument;

/** The job with a claim of its first step. */
function claiming(): { readonly job: LiveJob; readonly claims: readonly LiveStep[] } {
  const tasks = [task('a')];
  const intent = decide(before, t0, world({ tasks, flows: [flow(['a'])] }));
  if (intent.kind !== 'claim') throw new Error(intent.kind);
  return { job: intent.job, claims: intent.steps };
}
const { job, claims } = claiming();
const claim = String(claims[0]?.claim);

const open = (given: Given = {}) => writeParts({ docs: [stored], ...given });

describe('a claim that is written', () => {
  // Shows C-04, C-18.
  it('E14: has its slot before the write, and is started after the store has confirmed it', async () => {
    const { parts, store, seen } = open();
    const written = await writeJob(parts, { job, claims });
    expect(written).toMatchObject({ kind: 'written', doc: { _id: 'j', _rev: '2-1' } });
    expect(seen).toEqual(['write j on 1-new', `start ${claim}`]);
    expect(store.docs.get('j')).toMatchObject({ steps: [{ state: '$$active' }] });
  });

  it('is known from then on, and not read again', async () => {
    const { parts, store } = open();
    const written = await writeJob(parts, { job, claims });
    const doc = parts.serializer.documents.get('j') as StoredDocument;
    expect(written).toEqual({ kind: 'written', doc });
    expect(await parts.parsedJobs.read(doc)).toMatchObject({
      value: { steps: [{ claim }], _rev: '2-1' },
    });
    expect(store.reads).toBe(0);
  });

  // Shows C-03.
  it('E1, E12: is dropped when another write was faster', async () => {
    const faster = { ...stored, _rev: '2-x', state: 'other' };
    const { parts, store, seen } = open({ docs: [faster] });
    expect(await writeJob(parts, { job, claims })).toEqual({ kind: 'lost' });
    expect(seen).toEqual(['write j on 1-new', `withdraw ${claim}/`]);
    expect(store.docs.get('j')).toBe(faster);
    expect(parts.serializer.documents.get('j')).toBeUndefined();
    expect(parts.replicas.unbegun.has(claim)).toBe(true);
  });

  it('is started after a write that was not acknowledged but is there', async () => {
    const { parts, store, seen } = open();
    store.answer('j', 'unheard');
    expect(await writeJob(parts, { job, claims })).toMatchObject({ kind: 'written' });
    expect(seen.at(-1)).toBe(`start ${claim}`);
    expect(store.writes).toHaveLength(1);
  });

  it('is dropped after a write that was not acknowledged and is not there', async () => {
    const { parts, store, seen } = open();
    store.answer('j', 'unknown');
    expect(await writeJob(parts, { job, claims })).toEqual({ kind: 'lost', cause: 'no answer' });
    expect(seen.at(-1)).toBe(`withdraw ${claim}/`);
  });

  it('leaves its slot free when the store breaks', async () => {
    const { parts, store, seen } = open();
    store.answer('j', 'throws');
    await expect(writeJob(parts, { job, claims })).rejects.toThrow('no memory');
    expect(seen.at(-1)).toBe(`withdraw ${claim}/`);
  });
});

describe('a claim among three copies', () => {
  it('is started after a quorum has acknowledged it twice', async () => {
    const { parts, store, seen } = open({ copies: 3 });
    expect(await writeJob(parts, { job, claims })).toMatchObject({ kind: 'written' });
    const states = store.writes.map(({ steps }) => (steps as { state: string }[])[0]?.state);
    expect(states).toEqual(['$$ready', '$$active']);
    expect(seen.at(-1)).toBe(`start ${claim}`);
  });

  it('is written once more when it was only accepted (202)', async () => {
    const { parts, store, seen } = open({ copies: 3 });
    store.answer('j', 'unheard');
    expect(await writeJob(parts, { job, claims })).toMatchObject({ kind: 'written' });
    expect(store.writes).toHaveLength(3);
    expect(seen.filter((one) => one.startsWith('start'))).toEqual([`start ${claim}`]);
  });

  it('is not looked for when the change begins and ends no attempt', async () => {
    const { parts, store } = open({ copies: 3 });
    const change = { job: before, unconfirmed: true } as const;
    expect(await writeJob(parts, change)).toMatchObject({ kind: 'written' });
    expect([store.writes.length, store.reads]).toEqual([1, 0]);
    store.answer('j', 'unheard');
    const next = { ...change, job: { ...before, _rev: '2-3' } };
    expect(await writeJob(parts, next)).toEqual({ kind: 'lost', cause: '202' });
  });
});

describe('the outcome of an attempt', () => {
  const ended = [{ step: claims[0] as LiveStep, outcome: { kind: 'done' } as const, report: {} }];

  it('frees its slot, and is logged, once it is stored', async () => {
    const { parts, seen, lines } = open();
    await writeJob(parts, { job: before, ended });
    expect(seen).toEqual(['write j on 1-new', `release ${claim}`]);
    expect(lines).toEqual(['debug: Step a ended: done.']);
  });

  it('keeps its slot when the write is lost', async () => {
    const { parts, store, seen, lines } = open();
    store.answer('j', 'conflict');
    expect(await writeJob(parts, { job: before, ended })).toEqual({ kind: 'lost' });
    expect(seen.at(-1)).toBe(`withdraw /${claim}`);
    expect(lines).toEqual([]);
  });

  it('is logged as a warning, with the place, when it is a failure', async () => {
    const { parts, lines } = open();
    const failure = { name: 'Broken', message: 'It is.', at: 'params.x' };
    const [one] = ended;
    const outcomes = [{ kind: 'failed', failure }, { kind: 'timeout' }] as const;
    const both = outcomes.map((outcome) => ({ ...one, outcome }) as unknown as EndedAttempt);
    await writeJob(parts, { job: before, ended: both });
    expect(lines).toEqual([
      'warn: Step a failed (params.x): Broken: It is.',
      'warn: Step a ended: timeout.',
    ]);
  });
});

describe('the children that a job gives up', () => {
  const child = { _id: 'j:0:1', _rev: '1-c', type: 'job', state: 'a-0', flow: 'f' };
  const there = { ...child, parent: { job: 'j', step: '0', start: t0 } };
  const steps = [0, 1].map((i) => ({ state: '$$waiting', child: `j:${i}:1`, attempt: 1, path: i }));
  const abandons = leftBy({ _id: 'j', start: t0, steps });

  it('E13: are asked to cancel, or made as cancelled jobs, and the job is written afterwards', async () => {
    const { parts, store, seen } = open({ docs: [stored, there] });
    await writeJob(parts, { job: before, abandons });
    expect(store.writes).toMatchObject([
      { type: 'request', job: 'j:0:1', action: 'cancel' },
      { _id: 'j:1:1', cancel: { reason: expect.any(String) as string } },
      { _id: 'j', _rev: '1-new' },
    ]);
    expect(seen).toHaveLength(3);
  });

  it('are told again until they are known to be told', async () => {
    const { parts, store } = open({ docs: [stored, there] });
    store.answer('j:1:1', 'unknown');
    await writeJob(parts, { job: before, abandons });
    expect(store.writes.map(({ _id }) => _id).filter((id) => id === 'j:1:1')).toHaveLength(2);
    expect(store.writes.at(-1)).toMatchObject({ _id: 'j' });
  });

  it('are recorded in the job when they cannot be told', async () => {
    const { parts, store } = open({ docs: [stored, there] });
    store.answer('j:1:1', 'refused');
    await writeJob(parts, { job: before, abandons });
    expect(store.docs.get('j')).toMatchObject({
      requests: [{ refused: expect.stringContaining('j:1:1') as string }],
    });
  });

  it('E15: keep the job from being written when the engine ends meanwhile', async () => {
    const { parts, store, seen, life } = open({ docs: [stored, there] });
    const tell = store.onWrite;
    store.onWrite = (doc) => {
      tell(doc);
      life.abort();
    };
    const written = await writeJob(parts, { job, claims, abandons });
    expect(written).toEqual({ kind: 'lost', cause: 'the engine ends' });
    expect(store.writes.map(({ _id }) => _id)).not.toContain('j');
    expect(seen.at(-1)).toBe(`withdraw ${claim}/`);
  });

  it('are told once more among three copies, after the attempts have started', async () => {
    const ended = { ...there, state: '$$complete', run: 1 };
    const { parts, store, seen } = open({ docs: [stored, ended], copies: 3 });
    const note = store.onWrite;
    store.onWrite = (doc) => {
      note(doc);
      // A copy has the child go on meanwhile.
      if (doc._id === 'j') store.docs.set(ended._id, there);
    };
    await writeJob(parts, { job, claims, abandons: abandons.slice(0, 1) });
    expect(seen.slice(-2)).toEqual([`start ${claim}`, 'write request:j:0:1:parent:1 on new']);
  });
});

describe('the end of a job', () => {
  const ended = { ...before, state: '$$complete', end: t0, exit: 0 };
  const final = { ...ended, locked: { permit: 'lock:p' } } as unknown as FinalJob;
  const makes = [{ _id: 'j:notify:1:0', type: 'job', flow: 'n' }] as const;

  it('is written after its notifications are made; its locks are for this engine to remove', async () => {
    const { parts, seen, lines } = open();
    await writeDecision(parts, { kind: 'write', job: final, makes });
    expect(seen).toEqual(['make j:notify:1:0', 'write j on 1-new', 'adopt the locks of j']);
    expect(lines).toEqual(['info: Job j ended with exit 0.']);
  });

  it('is told by nobody when it is lost', async () => {
    const { parts, store, seen, lines } = open();
    store.answer('j', 'conflict');
    await writeDecision(parts, { kind: 'write', job: final });
    expect([seen, lines]).toEqual([['write j on 1-new'], []]);
  });

  it('is a warning when it is a failure', async () => {
    const { parts, lines } = open();
    const failure = { name: 'Broken', message: 'It is broken.' };
    await writeDecision(parts, { kind: 'write', job: { ...final, exit: 2, failure } });
    expect(lines).toEqual(['warn: Job j ended with exit 2. It is broken.']);
  });
});

describe('the children that a job makes', () => {
  const step = { ...claims[0], state: '$$waiting', child: 'j:0:1', claim: undefined } as const;
  const parent = { ...job, steps: [step] } as unknown as LiveJob;
  const children = [{ _id: 'j:0:1', type: 'job', flow: 'f' }] as const;
  const spawn = { kind: 'spawn', job: parent, children } as const;

  it('are made after the job is written, until it is known that they are', async () => {
    const { parts, store, seen } = open();
    store.answer('j:0:1', 'unknown');
    await writeDecision(parts, spawn);
    const made = 'write j:0:1 on new';
    expect(seen).toEqual(['write j on 1-new', made, made]);
  });

  it('are not made when the write is lost', async () => {
    const { parts, store, seen } = open();
    store.answer('j', 'conflict');
    await writeDecision(parts, spawn);
    expect(seen).toEqual(['write j on 1-new']);
  });

  it('fail their step when the database refuses them', async () => {
    const { parts, store } = open();
    store.answer('j:0:1', 'refused');
    const written = await writeDecision(parts, spawn);
    expect(written).toMatchObject({
      kind: 'written',
      doc: { _rev: '3-1', steps: [{ state: '$$error', failure: { name: 'StoreRefused' } }] },
    });
  });
});

it('a job longer than its writer allows is not stored', async () => {
  const { parts, store } = open();
  await writeJob(parts, { job: before });
  await writeJob(parts, { job: { ...before, _rev: '2-1' }, mostBytes: 7 });
  expect(store.limits).toEqual([1_000_000, 7]);
});
