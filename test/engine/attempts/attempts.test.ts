import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';
import { openWorkspace } from '../../support/workspace.js';

/** One task and one flow of it, `f`, whose jobs are the test's. */
const oneStep = (name: string, more: Record<string, unknown> = {}) => [
  { _id: `task:DEFAULT:${name}`, type: 'task', name, ...more },
  { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: [name] },
];
const job = { type: 'job', flow: 'f', owner: 'me' };
const stepOf = (doc: Readonly<Record<string, unknown>>) =>
  (doc['steps'] as Readonly<Record<string, unknown>>[] | undefined)?.[0];

describe('an attempt that gives no sign of life', () => {
  // Shows E-04, H-06, X-34.
  it('ends, and the next one gets what the last heartbeat said', async () => {
    const space = await openWorkspace({
      'pages.mjs': `export default async ({ heartbeat, lastDetails, log, progress, step }) => {
        if (lastDetails?.page === 3) return { from: lastDetails.page };
        for (let page = 1; page <= 3; page += 1) {
          heartbeat({ page }); progress(page / 4); log('page ' + page);
          await new Promise((r) => setTimeout(r, 100));
        }
        await new Promise(() => {});
      };`,
    });
    await space.put(...oneStep('pages', { heartbeat: 900, timeout: 0, retry: 1 }));
    await space.engine();
    const [id] = await space.put(job);
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps).toMatchObject([
      {
        state: '$$timeout',
        exit: 1,
        failure: { name: 'HeartbeatTimeout' },
        details: { page: 3 },
        progress: 0.75,
        log: [{ message: 'page 1' }, { message: 'page 2' }, { message: 'page 3' }],
      },
      { state: '$$complete', result: { from: 3 } },
    ]);
    // Nine things were told: they go into the four revisions that there are anyway, and one report.
    expect(Number.parseInt(ended._rev, 10)).toBeLessThanOrEqual(5);
  });

  it('ends in a thread of its own, too', async () => {
    const space = await openWorkspace({
      'busy.mjs': `export const isolate = 'thread';
        export default ({ heartbeat }) => { heartbeat({ n: 1 }); for (;;); };`,
    });
    await space.put(...oneStep('busy', { heartbeat: 6_000, timeout: 0 }));
    await space.engine();
    const [id] = await space.put(job);
    expect(await space.ended(String(id))).toMatchObject({
      exit: 1,
      steps: [{ failure: { name: 'HeartbeatTimeout' }, details: { n: 1 } }],
    });
  });
});

describe('a running attempt', () => {
  const told = {
    'long.mjs': `export default async ({ heartbeat, progress, signal }) => {
      for (let n = 1; ; n += 1) {
        heartbeat({ n });
        progress(n);
        await new Promise((r) => setTimeout(r, 20));
      }
    };`,
  };

  // Shows L-10, X-41.
  it('shows in its step how far it is, until it is cancelled', async () => {
    const space = await openWorkspace(told);
    await space.put(...oneStep('long', { timeout: 0, heartbeat: 5_000 }));
    await Promise.all([space.engine({ reportMs: 100 }), space.engine({ reportMs: 100 })]);
    const [id] = await space.put(job);
    const later = await space.until(String(id), (doc) => Number(stepOf(doc)?.['progress']) > 10);
    expect(stepOf(later)).toMatchObject({ state: '$$active' });
    expect(stepOf(later)).toHaveProperty('reported');
    await space.put({ type: 'request', job: id, action: 'cancel' });
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ state: '$$cancelled', steps: [{ state: '$$cancelled' }] });
    expect(Number(stepOf(ended)?.['progress'])).toBeGreaterThan(10);
  });

  it('leaves its details to another engine when its own is lost', async () => {
    const space = await openWorkspace({
      'once.mjs': `export default ({ heartbeat, lastDetails }) => lastDetails ??
        new Promise((_, stopped) => {
          const timer = setInterval(() => {
            try { heartbeat({ n: 7 }); } catch (error) { clearInterval(timer); stopped(error); }
          }, 20);
        });`,
    });
    const fast = { leaseMs: 600, renewMs: 150, reportMs: 50 };
    await space.put(...oneStep('once', { timeout: 0 }));
    const first = await space.engine(fast);
    const [id] = await space.put(job);
    await space.until(String(id), (doc) => stepOf(doc)?.['details'] !== undefined);
    await space.engine(fast);
    await first.kill();
    expect(await space.ended(String(id))).toMatchObject({
      exit: 0,
      steps: [{ failure: { name: 'EngineLost' } }, { result: { n: 7 } }],
    });
  });

  it('is told apart from one that was taken away: its reports are dropped', async () => {
    const space = await openWorkspace(told);
    await space.put(...oneStep('long', { timeout: 0 }));
    await space.engine({ reportMs: 50 });
    const [id] = await space.put(job);
    const live = await space.until(String(id), (doc) => stepOf(doc)?.['progress'] !== undefined);
    await takeAway(space.store, live);
    await space.logged(({ message }) => message.includes('taken from this engine'));
    await space.put({ type: 'request', job: id, action: 'cancel' });
    const { steps } = await space.ended(String(id));
    expect(steps[0]).toMatchObject({ claim: 'another', failure: { name: 'EngineLost' } });
  });
});

describe('a plugin', () => {
  // Shows D-06, E-17.
  it('may begin again, and have the whole job begin anew', async () => {
    const space = await openWorkspace({
      'first.mjs': `export default ({ key }) => key;`,
      'second.mjs': `export default ({ step, requeue, restartJob, results, key }) =>
        step.attempt === 1 ? requeue({ delay: 50 }) :
        step.run === 1 ? restartJob({ delay: 50 }) : [results.first, key];`,
    });
    await space.put(
      { _id: 'task:DEFAULT:first', type: 'task', name: 'first' },
      { _id: 'task:DEFAULT:second', type: 'task', name: 'second' },
      { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['first', 'second'] },
    );
    await Promise.all([space.engine(), space.engine()]);
    const [id] = await space.put(job);
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0, run: 2, restarts: 1 });
    const failures = ended.steps.map(({ failure }) => (failure as { name?: string })?.name);
    expect(failures).toEqual([undefined, 'Requeued', 'Restarted', undefined, undefined]);
    // Work that is to be done again has another key, so that nobody takes it for done.
    expect(ended.steps[0]?.['result']).toBe(`${id}:0`);
    expect(ended.steps[4]?.['result']).toEqual([`${id}:0:2`, `${id}:1:2`]);
  });

  // Shows D-06, E-17.
  it.each(['thread', undefined])(
    'may wait for a signal, whose data become the result (isolate: %s)',
    async (isolate) => {
      const own = isolate === undefined ? '' : `export const isolate = '${isolate}';`;
      const space = await openWorkspace({
        'ask.mjs': `${own} export default ({ wait, params }) => wait(params.token);`,
      });
      await space.put(...oneStep('ask', { params: { token: 'a-token' } }));
      await Promise.all([space.engine(), space.engine()]);
      const [id] = await space.put(job);
      await space.until(String(id), (doc) => stepOf(doc)?.['signal'] === 'a-token');
      await space.put({ type: 'signal', job: id, name: 'a-token', data: { ok: true } });
      const ended = await space.ended(String(id));
      expect(ended).toMatchObject({ exit: 0, steps: [{ result: { ok: true } }] });
      expect(ended.steps).toHaveLength(1);
    },
  );

  it('may wait without a slot for a signal that does not come in time', async () => {
    const space = await openWorkspace({
      'ask.mjs': `export default ({ wait }) => wait('answer', { timeout: 600, details: 'ann' });`,
      'quick.mjs': 'export default () => 1;',
    });
    await space.put(
      ...oneStep('ask'),
      { _id: 'task:DEFAULT:quick', type: 'task', name: 'quick' },
      { _id: 'flow:me:g', type: 'flow', name: 'g', owner: 'me', tasks: ['quick'] },
    );
    await space.engine({ slots: 1 });
    const [id] = await space.put(job);
    const parked = await space.until(String(id), (doc) => stepOf(doc)?.['state'] === '$$waiting');
    expect(stepOf(parked)).toMatchObject({ signal: 'answer', details: 'ann' });
    const [other] = await space.put({ ...job, flow: 'g' });
    const [asked, quick] = await Promise.all([space.ended(String(id)), space.ended(String(other))]);
    expect(asked).toMatchObject({ exit: 1, failure: { name: 'WaitTimeout' } });
    expect(Number(quick['end'])).toBeLessThan(Number(asked['end']));
  });
});

describe('a step', () => {
  // Shows X-29.
  it('tells which code each attempt ran, and the log when it changed in between', async () => {
    const space = await openWorkspace({
      'v.mjs': `export default ({ step, requeue }) => step.attempt < 2 ? requeue({ delay: 300 }) : 1;`,
    });
    await space.put(...oneStep('v'));
    const first = await space.engine();
    const [id] = await space.put(job);
    await space.until(String(id), (doc) => stepOf(doc)?.['due'] !== undefined);
    await first.stop();
    await appendFile(join(space.folder, 'v.mjs'), '// another edition');
    await space.engine();
    const { steps } = await space.ended(String(id));
    const [one, two] = steps.map((step) => step['plugin_hash']);
    expect(one).toMatch(/^[0-9a-f]{12}$/);
    expect(two).toMatch(/^[0-9a-f]{12}$/);
    expect(one).not.toBe(two);
    const message = 'Plugin v of step v has changed since attempt 1.';
    expect(space.log).toContainEqual(expect.objectContaining({ level: 'warn', message }));
  });
});

describe('a task with slots of its own', () => {
  it('runs no more attempts at once on an engine, and holds up no other task', async () => {
    const body = (name: string) => `let now = 0;
      export default async () => {
        now += 1; const most = now;
        await new Promise((r) => setTimeout(r, ${name === 'solo' ? 60 : 20}));
        now -= 1; return most;
      };`;
    const space = await openWorkspace({ 'solo.mjs': body('solo'), 'many.mjs': body('many') });
    const flow = (name: string, tasks: unknown) => ({ type: 'flow', name, owner: 'me', tasks });
    await space.put(
      { _id: 'task:DEFAULT:solo', type: 'task', name: 'solo', slots: 1 },
      { _id: 'task:DEFAULT:many', type: 'task', name: 'many' },
      { _id: 'flow:me:f', ...flow('f', ['solo', 'solo']) },
      { _id: 'flow:me:g', ...flow('g', ['many']) },
      { _id: 'flow:me:h', ...flow('h', { parallel: ['solo', 'many', 'solo'] }) },
    );
    await space.engine({ slots: 4 });
    const solo = await space.put(...Array.from({ length: 8 }, () => job), { ...job, flow: 'h' });
    const many = await space.put(...Array.from({ length: 20 }, () => ({ ...job, flow: 'g' })));
    const others = await Promise.all(many.map((id) => space.ended(id)));
    const ended = await Promise.all(solo.map((id) => space.ended(id)));
    const most = (jobs: typeof ended, task: string): readonly unknown[] =>
      jobs.flatMap(({ steps }) => steps.filter((s) => s['task'] === task).map((s) => s['result']));
    expect(new Set(most(ended, 'solo'))).toEqual(new Set([1]));
    expect(most(ended, 'solo')).toHaveLength(18);
    expect(Math.max(...most(others, 'many').map(Number))).toBeGreaterThan(1);
    const lastOf = (jobs: typeof ended): number => Math.max(...jobs.map(({ end }) => Number(end)));
    expect(lastOf(others)).toBeLessThan(lastOf(ended));
  });
});

describe('an engine', () => {
  // Shows E-16.
  it('stops by itself when it met what a flow calls fatal, and others go on', async () => {
    const space = await openWorkspace({
      'boom.mjs': `export default () => { throw Object.assign(new Error('disk full'), { code: 'ENOSPC' }); };`,
      'after.mjs': 'export default () => 1;',
    });
    await space.put(
      { _id: 'task:DEFAULT:boom', type: 'task', name: 'boom', retry: 5, error: 'after' },
      { _id: 'task:DEFAULT:after', type: 'task', name: 'after' },
      {
        ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['boom'] },
        errors: { ENOSPC: { severity: 'fatal' } },
      },
    );
    const first = await space.engine();
    const [id] = await space.put(job);
    const reason = await first.failed;
    expect(reason).toMatchObject({
      code: 'engine_fatal',
      exit: 70,
      message: `The engine stops: step boom of job ${id} failed with Error, which its flow calls fatal: disk full`,
    });
    await first.stop();
    expect(await space.store.get(first.id)).toBeUndefined();
    const { message } = reason;
    expect(space.log).toContainEqual(expect.objectContaining({ level: 'error', message }));
    const second = await space.engine();
    const { steps } = await space.ended(String(id));
    expect(steps.map(({ state, engine }) => [state, engine])).toEqual([
      ['$$error', first.id],
      ['$$complete', second.id],
    ]);
  });
});

/** Another claim stands in the step from now on, against whatever the engine reports meanwhile. */
async function takeAway(store: Store, { _id }: StoredDocument): Promise<void> {
  for (;;) {
    const doc = await store.get(_id);
    const [step] = doc?.['steps'] as Record<string, unknown>[];
    const result = await store.write({ ...doc, _id, steps: [{ ...step, claim: 'another' }] });
    if (result.kind === 'written') return;
  }
}
