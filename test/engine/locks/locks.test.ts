import { describe, expect, it } from 'vitest';
import { lockIdOf } from '../../../src/lock-id.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { flow, job as jobOf } from '../../support/documents.js';
import { openWorkspace, type Ended, type Workspace } from '../../support/workspace.js';

const echo = `export default ({ params }) => params;`;
const go = { wait: { signal: 'go' } };
const job = (id: string, more: Record<string, unknown> = {}) => jobOf('f', { _id: id, ...more });
const signal = (id: string) => ({ type: 'signal', job: id, name: 'go' });
const begun = ({ state }: StoredDocument): boolean => state === 'wait-0';

/** A database with a flow `f` whose jobs go on until they get the signal `go`. */
async function openHeld(): Promise<Workspace> {
  const space = await openWorkspace({ 'echo.mjs': echo });
  await space.put(
    { _id: 'task:DEFAULT:echo', type: 'task', name: 'echo' },
    flow('f', [go, 'echo']),
  );
  return space;
}

/** Waits until `count` of the jobs are final: those that were refused. */
async function refused(space: Workspace, ids: readonly string[]): Promise<Ended> {
  return Promise.any(ids.map((id) => space.ended(id)));
}

/** Waits until there is no lock document any more. */
async function unlocked({ store }: Workspace): Promise<void> {
  await expect.poll(() => store.view('locks')).toEqual([]);
}

/** Of jobs that were stored together one goes on; it is told which. */
async function expectOne(space: Workspace, ids: readonly string[], name: string): Promise<string> {
  const [one, other] = ids as [string, string];
  const loser = await refused(space, ids);
  const winner = loser._id === one ? other : one;
  expect(loser).toMatchObject({ state: '$$complete', exit: 5, steps: [], failure: { name } });
  expect(loser.failure?.message).toContain(` ${winner}`);
  await space.until(winner, begun);
  return winner;
}

describe('two engines', () => {
  it('L1: run one of two jobs with the same target, 20 times', async () => {
    const space = await openHeld();
    await Promise.all([space.engine(), space.engine()]);
    for (let round = 0; round < 20; round += 1) {
      const ids = [`a-${round}`, `b-${round}`];
      const more = { target: 'host/1', params: { 'echo-1': { round } } };
      await space.put(...ids.map((id) => job(id, more)));
      const winner = await expectOne(space, ids, 'TargetTaken');
      await space.put(signal(winner));
      expect(await space.ended(winner)).toMatchObject({ exit: 0 });
    }
    await unlocked(space);
  });

  it('run one of two jobs whose locks match the target of the other, 20 times', async () => {
    const space = await openHeld();
    await Promise.all([space.engine(), space.engine()]);
    for (let round = 0; round < 20; round += 1) {
      const ids = [`a-${round}`, `b-${round}`];
      await space.put(
        ...ids.map((id) => job(id, { target: `db/${id}`, locks: '^db/', params: { id: {} } })),
      );
      const winner = await expectOne(space, ids, 'TargetLocked');
      await space.put(signal(winner));
      expect(await space.ended(winner)).toMatchObject({ exit: 0 });
    }
    await unlocked(space);
  });

  it('run one of many jobs that all exclude each other', async () => {
    const space = await openHeld();
    // A lock that a refused job left behind is removed by the sweep.
    const options = { sweepMs: 500 };
    await Promise.all([space.engine(options), space.engine(options)]);
    const ids = Array.from({ length: 12 }, (_, i) => `j-${i}`);
    await space.put(...ids.map((id) => job(id, { target: id, locks: '.' })));
    const ended = ids.map((id) => space.ended(id));
    const begins = ids.map((id) => space.until(id, begun));
    begins.forEach((begin) => void begin.catch(() => undefined));
    const { _id: winner } = await Promise.any(begins);
    // Not before the others have ended: what is decided after its end may begin.
    const others = await Promise.all(ended.filter((_, i) => ids[i] !== winner));
    expect(others.filter(({ exit }) => exit === 5)).toHaveLength(11);
    await space.put(signal(winner));
    expect(await space.ended(winner)).toMatchObject({ exit: 0 });
    await unlocked(space);
  });

  it('release the lock of a job whose engine was killed, after the end of the job', async () => {
    const hang = `export default ({ job, step, signal }) => job._id !== 'a' || step.attempt > 1 ? 'done'
      : new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));`;
    const space = await openWorkspace({ 'hang.mjs': hang });
    const task = { _id: 'task:DEFAULT:hang', type: 'task', name: 'hang', timeout: 0 };
    await space.put(task, flow('f', ['hang', go]));
    const quick = { leaseMs: 1_000, renewMs: 300 };
    const first = await space.engine(quick);
    await space.put(job('a', { target: 'x', locks: 'y' }));
    await space.until('a', ({ state }) => state === 'hang-0');
    await space.engine(quick);
    await first.kill();
    await space.put(job('b', { target: 'x' }), job('c', { target: 'y' }));
    expect(await space.ended('b')).toMatchObject({ exit: 5, failure: { name: 'TargetTaken' } });
    expect(await space.ended('c')).toMatchObject({ exit: 5, failure: { name: 'TargetLocked' } });
    await space.put(signal('a'));
    const ended = await space.ended('a');
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps[0]).toMatchObject({ failure: { name: 'EngineLost' } });
    await unlocked(space);
    await space.put(job('d', { target: 'x' }));
    await space.until('d', ({ state }) => state === 'wait-1');
  });
});

describe('a job with a target', () => {
  // Shows B-09.
  it('keeps only jobs with the same parameters off, and nobody after its end', async () => {
    const space = await openHeld();
    await space.engine();
    const same = { target: 'x', params: { 'echo-1': { a: 1, b: [2] } } };
    await space.put(job('holder', same));
    await space.until('holder', begun);
    const other = { target: 'x', params: { 'echo-1': { a: 1, b: [3] } } };
    await space.put(
      job('again', { target: 'x', params: { 'echo-1': { b: [2], a: 1 } } }),
      job('other', other),
      job('elsewhere', { ...same, target: 'y' }),
    );
    const again = await space.ended('again');
    expect(again).toMatchObject({ exit: 5, failure: { name: 'TargetTaken' } });
    expect(again.failure?.message).toContain('Job holder');
    await Promise.all([space.until('other', begun), space.until('elsewhere', begun)]);
    await space.put(...['holder', 'other', 'elsewhere'].map(signal));
    expect(await space.ended('holder')).toMatchObject({ exit: 0 });
    await space.put(job('next', same), signal('next'));
    expect(await space.ended('next')).toMatchObject({ exit: 0 });
    await Promise.all([space.ended('other'), space.ended('elsewhere')]);
    await unlocked(space);
  });

  it('keeps others off while it waits for a slot or a time', async () => {
    const space = await openHeld();
    await space.engine({ slots: 1 });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await space.put(job('later', { target: 'x', exec_after: later }));
    await space.until('later', ({ state }) => state === '$$ready');
    await space.put(job('b', { target: 'x' }));
    expect(await space.ended('b')).toMatchObject({ exit: 5 });
    await space.put({ type: 'request', job: 'later', action: 'cancel' });
    expect(await space.ended('later')).toMatchObject({ exit: 130 });
    await unlocked(space);
  });

  it('takes over the lock of a job that is final or gone', async () => {
    const space = await openHeld();
    await space.put(job('old', { flow: 'missing' }));
    const lock = { type: 'lock', kind: 'target', key: 'x', at: 1, nonce: 'n' };
    await space.put(
      { ...lock, _id: lockIdOf('["target",{"owner":"me"},"x",{}]'), job: 'gone' },
      { ...lock, _id: lockIdOf('["target","y",{}]'), job: 'old' },
      { ...lock, _id: 'lock:pattern', kind: 'pattern', key: '.', job: 'old' },
    );
    await space.engine();
    await space.ended('old');
    await space.put(job('a', { target: 'x' }), job('b', { target: 'y' }));
    await space.until('a', begun);
    await space.until('b', begun);
    expect(await space.store.get(lockIdOf('["target",{"owner":"me"},"x",{}]'))).toMatchObject({
      job: 'a',
    });
  });

  it('is refused again when it is retried while another one has its target', async () => {
    const space = await openHeld();
    await space.engine();
    await space.put(job('a', { target: 'x', params: { 'echo-1': { bad: '{{nothing}}' } } }));
    await space.put(signal('a'));
    expect(await space.ended('a')).toMatchObject({ exit: 3 });
    const retry = { type: 'request', job: 'a', action: 'retry', params: { 'echo-1': { bad: 1 } } };
    const same = { target: 'x', params: { 'echo-1': { bad: '{{nothing}}' } } };
    await space.put(job('b', same));
    await space.until('b', begun);
    await space.put(retry);
    await space.until('a', ({ exit }) => exit === 5);
    await space.put(signal('b'));
    await space.ended('b');
    await space.put(retry);
    expect(await space.until('a', ({ exit }) => exit === 0)).toMatchObject({ run: 3 });
    await unlocked(space);
  });

  it('keeps its lock over all the jobs as which it goes on', async () => {
    const next = `export default ({ params, job }) => job._id.endsWith('~3') ? { complete: 1 }
      : { continue_as_new: { n: (params.n ?? 0) + 1 } };`;
    const space = await openWorkspace({ 'next.mjs': next });
    await space.put(flow('f', [{ decider: 'next' }, go]));
    await space.engine();
    await space.put(job('a', { target: 'x', locks: '^x' }));
    await space.until('a~3', ({ state }) => state === 'wait-1');
    const lock = await space.store.get(lockIdOf('["target",{"owner":"me"},"x",{}]'));
    expect(lock).toMatchObject({ job: 'a~3' });
    await space.put(job('b', { target: 'x' }), job('c', { target: 'x/y' }));
    expect((await space.ended('b')).failure).toMatchObject({ name: 'TargetTaken' });
    expect((await space.ended('c')).failure).toMatchObject({ name: 'TargetLocked' });
    await space.put(signal('a~3'));
    expect(await space.ended('a~3')).toMatchObject({ exit: 0 });
    await unlocked(space);
  });
});

describe('targets and locks of two owners', () => {
  const database = 'database';

  it('have nothing to do with each other', async () => {
    const space = await openHeld();
    await space.put({ ...flow('f', [go, 'echo']), _id: 'flow:you:f', owner: 'you' });
    await space.engine();
    await space.put(job('mine', { target: 'x', locks: '.*' }));
    await space.until('mine', begun);
    await space.put(job('yours', { owner: 'you', target: 'x' }));
    await space.until('yours', begun);
    await space.put(job('mine-too', { target: 'y' }));
    expect(await space.ended('mine-too')).toMatchObject({ failure: { name: 'TargetLocked' } });
    await space.put(signal('mine'), signal('yours'));
    await Promise.all([space.ended('mine'), space.ended('yours')]);
    await unlocked(space);
  });

  it('exclude each other with the scope "database", and do not learn whose job it is', async () => {
    const space = await openHeld();
    await space.put({ ...flow('f', [go, 'echo']), _id: 'flow:you:f', owner: 'you' });
    await space.engine();
    const target = { name: 'x', scope: database };
    await space.put(job('secret-name', { target, locks: { pattern: '^y', scope: database } }));
    await space.until('secret-name', begun);
    await space.put(
      job('taken', { owner: 'you', target }),
      job('locked', { owner: 'you', target: 'y' }),
      job('free', { owner: 'you', target: 'x' }),
    );
    const refusals = [await space.ended('taken'), await space.ended('locked')];
    expect(refusals.map(({ failure }) => failure?.name)).toEqual(['TargetTaken', 'TargetLocked']);
    expect(JSON.stringify(refusals)).not.toContain('secret-name');
    await space.until('free', begun);
  });

  it('respect locks of earlier versions, which did not say whose they are', async () => {
    const space = await openHeld();
    await space.put({ ...flow('f', [go, 'echo']), _id: 'flow:you:f', owner: 'you' });
    const target = lockIdOf('["target","x",{}]');
    const pattern = lockIdOf('["pattern","old"]');
    const lock = { type: 'lock', job: 'old', at: 1, nonce: 'n' };
    const first = await space.engine();
    await space.put(job('old'));
    const old = await space.until('old', begun);
    await first.stop();
    await space.put(
      { ...old, target: 'x', locks: '^y', locked: { target, pattern } },
      { ...lock, _id: target, kind: 'target', key: 'x' },
      { ...lock, _id: pattern, kind: 'pattern', key: '^y' },
    );
    await space.engine();
    await space.put(
      job('a', { target: 'x' }),
      job('b', { target: 'y' }),
      ...['x', 'y'].map((name) => job(`your-${name}`, { owner: 'you', target: name })),
    );
    expect(await space.ended('a')).toMatchObject({ failure: { name: 'TargetTaken' } });
    expect(await space.ended('b')).toMatchObject({ failure: { name: 'TargetLocked' } });
    await Promise.all([space.until('your-x', begun), space.until('your-y', begun)]);
    await space.put(...['old', 'your-x', 'your-y'].map(signal));
    await Promise.all(['old', 'your-x', 'your-y'].map((id) => space.ended(id)));
    await space.put(job('c', { target: 'x' }), signal('c'));
    expect(await space.ended('c')).toMatchObject({ exit: 0 });
    await unlocked(space);
  });
});

describe('a job with locks', () => {
  // Shows B-10.
  it('keeps jobs with a matching target off until it has ended', async () => {
    const space = await openHeld();
    await space.engine();
    await space.put(job('before', { target: 'vm/1/modify' }));
    await space.until('before', begun);
    await space.put(job('holder', { locks: '(modify|destroy)$' }));
    await space.until('holder', begun);
    await space.put(
      job('matching', { target: 'vm/2/destroy' }),
      job('different', { target: 'vm/2/destroyed' }),
      job('without'),
    );
    const matching = await space.ended('matching');
    expect(matching).toMatchObject({ exit: 5, failure: { name: 'TargetLocked' } });
    expect(matching.failure?.message).toContain('Job target is currently locked by job holder');
    await Promise.all([space.until('different', begun), space.until('without', begun)]);
    await space.put(...['holder', 'before', 'different', 'without'].map(signal));
    expect(await space.ended('before')).toMatchObject({ exit: 0 });
    expect(await space.ended('holder')).toMatchObject({ exit: 0 });
    await space.put(job('next', { target: 'vm/2/destroy' }), signal('next'));
    expect(await space.ended('next')).toMatchObject({ exit: 0 });
    await Promise.all([space.ended('different'), space.ended('without')]);
    await unlocked(space);
  });

  it('may work on a target that its own locks match', async () => {
    const space = await openHeld();
    await space.engine();
    await space.put(job('a', { target: 'x', locks: 'x' }), signal('a'));
    expect(await space.ended('a')).toMatchObject({ exit: 0 });
  });

  it('ends with exit 3 and the reason when they are no pattern', async () => {
    const space = await openHeld();
    await space.engine();
    const endless = 'a{1,1000}'.repeat(100);
    await space.put(
      job('a', { target: 'x', locks: '(modify' }),
      job('b', { locks: 7 }),
      job('c', { target: 'a', locks: endless }),
    );
    const ended = await space.ended('a');
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'LocksInvalid' } });
    expect(ended.failure?.message).toContain('missing closing )');
    expect(await space.ended('b')).toMatchObject({ exit: 3, failure: { name: 'InvalidJob' } });
    const heavy = await space.ended('c');
    expect(heavy).toMatchObject({ exit: 3, failure: { name: 'LocksInvalid' } });
    expect(heavy.failure?.message).toContain('repeats its parts too often');
    await unlocked(space);
  });

  it("stands in nobody's way with a pattern that is hard to match", async () => {
    const space = await openHeld();
    await space.engine();
    await space.put(job('a', { locks: '(a+)+$' }));
    await space.until('a', begun);
    const began = Date.now();
    await space.put(job('b', { target: `${'a'.repeat(999)}b` }));
    await space.until('b', begun);
    expect(Date.now() - began).toBeLessThan(20_000);
  });
});

describe('the sweep', () => {
  it('removes locks whose job is final or gone, and no others', async () => {
    const space = await openHeld();
    await space.put(job('old', { flow: 'missing' }), job('live', { target: 'x' }));
    const lock = { type: 'lock', kind: 'target', key: 'x', at: 1, nonce: 'n' };
    await space.put(
      { ...lock, _id: 'lock:1', job: 'gone' },
      { ...lock, _id: 'lock:2', job: 'old' },
      { ...lock, _id: 'lock:3', job: 'live' },
    );
    await space.engine({ sweepMs: 200 });
    await space.until('live', begun);
    await expect
      .poll(async () => (await space.store.view('locks')).map(({ id }) => id))
      .toEqual([lockIdOf('["target",{"owner":"me"},"x",{}]')]);
  });
});
