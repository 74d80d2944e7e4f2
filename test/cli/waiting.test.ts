import { describe, expect, it } from 'vitest';
import { explain } from '../../src/cli/commands/explain.js';
import { pause } from '../../src/cli/commands/request.js';
import { submit } from '../../src/cli/commands/submit.js';
import { waitForJob, type JobWaitOptions } from '../../src/cli/waiting.js';
import { createClient } from '../../src/client.js';
import { openStore } from '../../src/store/store.js';
import { couchUrl } from '../support/couch.js';
import { startProxy } from '../store/tcp-proxy.js';
import { openProject } from './database.js';
import { flow, task, testIo } from './terminal.js';

const plugins = {
  'hold.mjs': `export default ({ signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });`,
};
const documents = [
  { _id: 't1', ...task('echo') },
  { _id: 't2', ...task('rare', { plugin: 'rare' }) },
  { _id: 't3', ...task('hold', { plugin: 'hold', timeout: 0 }) },
  { _id: 'f1', ...flow('greet', ['echo']) },
  { _id: 'f2', ...flow('odd', ['rare']) },
  { _id: 'f3', ...flow('held', ['echo'], { paused: true }) },
  { _id: 'f4', ...flow('long', ['hold']) },
];

async function ready() {
  const opened = await openProject({}, plugins);
  await opened.put(...documents);
  return opened;
}

/** Waits with a short patience, by the connection of a client of its own. */
async function wait(
  { store }: Awaited<ReturnType<typeof ready>>,
  id: string,
  options: Partial<JobWaitOptions> & { readonly url?: string; readonly stop?: AbortSignal } = {},
) {
  const { connection } = store;
  const own = openStore({ ...connection, url: options.url ?? connection.url });
  const { stop } = options;
  const { io, printed } = testIo({ cwd: '/', ...(stop === undefined ? {} : { stop }) });
  const given = { id, database: connection.database, giveUpMs: 60_000, quietMs: 200, ...options };
  const exit = await waitForJob(createClient({ store: own }), given, io).catch(
    (error: unknown) => error,
  );
  await own.close();
  return { exit, ...printed() };
}

describe('waiting for a job', () => {
  it('says once why it does not move, and ends after --timeout', async () => {
    const space = await ready();
    await space.engine();
    await space.put({ _id: 'j', type: 'job', flow: 'odd' });
    const { exit, err } = await wait(space, 'j', { timeoutMs: 3_000 });
    expect(exit).toMatchObject({ code: 'wait_over', exit: 124 });
    expect(err.match(/No engine has plugin "rare", which step "rare" needs/g)).toHaveLength(1);
  });

  it.each([
    ['no engine', { flow: 'greet' }, false, /No engine is alive\. Start one/],
    ['a paused flow', { flow: 'held' }, true, /Flow "held" is paused/],
    ['a time', { flow: 'greet', exec_after: '2100-01-01T00:00:00Z' }, true, /waits until 2100/],
    ['a running step', { flow: 'long' }, true, /Step "hold" has run for .* on engine:/],
  ])('tells %s', async (_title, job, withEngine, sentence) => {
    const space = await ready();
    if (withEngine) await space.engine({ drainMs: 100 });
    await space.put({ _id: 'j', type: 'job', ...job });
    const { err } = await wait(space, 'j', { timeoutMs: 2_000 });
    expect(err).toMatch(sentence);
  });

  it('goes on with the end of the job when the reason is gone', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'greet' });
    const waiting = wait(space, 'j', { quietMs: 50 });
    await space.engine();
    const { exit, err } = await waiting;
    expect(exit).toBe(0);
    expect(err).toContain('$$complete succeeded');
  });

  it('says once that the database is away, and gives up after a while', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'greet' });
    const proxy = await startProxy(couchUrl());
    const waiting = wait(space, 'j', { url: proxy.url, giveUpMs: 3_000 });
    await expect.poll(() => proxy.accepted()).toBeGreaterThan(1);
    await proxy.listen(false);
    const { exit, err } = await waiting;
    expect(exit).toMatchObject({ code: 'wait_given_up', exit: 69 });
    expect(err).toContain('does not answer');
    // A slow answer may be told before; each silence is told once.
    expect(err).not.toMatch(/does not answer(?:(?!answers again)[^])*does not answer/);
  });

  it('keeps trying while the database is away, and hears of the end when it is back', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'greet' });
    const proxy = await startProxy(couchUrl());
    const waiting = wait(space, 'j', { url: proxy.url });
    await expect.poll(() => proxy.accepted()).toBeGreaterThan(1);
    await proxy.listen(false);
    await space.engine();
    await space.ended('j');
    await proxy.listen(true);
    const { exit, err } = await waiting;
    expect(exit).toBe(0);
    expect(err).toMatch(/does not answer[^]*answers again[^]*\$\$complete succeeded/);
  });

  it('waits also when the database is away from the start', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'greet' });
    await space.engine();
    await space.ended('j');
    const proxy = await startProxy(couchUrl());
    await proxy.listen(false);
    const waiting = wait(space, 'j', { url: proxy.url });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await proxy.listen(true);
    expect((await waiting).exit).toBe(0);
  });

  it('stops when it is told to', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'greet' });
    const { exit, err } = await wait(space, 'j', { stop: AbortSignal.timeout(300) });
    expect(exit).toBe(130);
    expect(err).toContain('Job j goes on');
  });

  it('is the same for tws submit --wait', async () => {
    const { tws, engine } = await ready();
    await engine();
    const input = JSON.stringify({ type: 'job', flow: 'odd' });
    const late = await tws(submit, { args: ['-'], input, flags: { wait: true, timeout: '5' } });
    expect(late.exit).toBe(124);
    expect(late.err).toContain('No engine has plugin "rare"');
  });
});

describe('tws explain', () => {
  // Shows X-39.
  it('says why a job does not move and what to do', async () => {
    const { tws, put, engine, until } = await ready();
    await engine();
    await put({ _id: 'j', type: 'job', flow: 'odd' });
    await until('j', ({ state }) => state === '$$ready');
    const { exit, out, json } = await tws(explain, { args: ['j'] });
    expect(exit).toBe(0);
    expect(out).toMatch(/^j: \$\$ready queued\n {2}No engine has plugin "rare".* Put it into/);
    expect(json).toMatchObject([{ id: 'j', reasons: [{ kind: 'unserved' }] }]);
    await tws(pause, { args: ['j'] });
    expect((await tws(explain, { args: ['j'] })).out).toContain('tws resume j');
  });

  it('takes the name of a flow that has one job', async () => {
    const { tws, put } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'odd' });
    expect((await tws(explain, { args: ['odd'] })).out).toMatch(/^j: new queued/);
    await put({ _id: 'k', type: 'job', flow: 'odd' });
    expect((await tws(explain, { args: ['odd'] })).error?.code).toBe('name_ambiguous');
  });

  it('goes on with the child job that is waited for', async () => {
    const { tws, put, engine, until } = await ready();
    await engine();
    await put(
      { _id: 'tc', type: 'task', name: 'sub', flow: 'odd' },
      { _id: 'fc', ...flow('parent', ['sub']) },
      { _id: 'p', type: 'job', flow: 'parent' },
    );
    await until('p:0:1', ({ state }) => state === '$$ready');
    const { out } = await tws(explain, { args: ['p'] });
    expect(out).toContain('Step "sub" waits for its child job p:0:1.');
    expect(out).toContain('\np:0:1: $$ready');
    expect(out).toContain('No engine has plugin "rare"');
  });

  it('watches an engine of a wrong clock before it calls it dead', async () => {
    const { tws, put, store } = await ready();
    const facts = { host: 'h', pid: 1, version: '0', plugins: ['noop'], labels: [], slots: 1 };
    const doc = { _id: 'engine:e', type: 'engine', ...facts, started: 1, renewed: 1 };
    const [id = ''] = await put({ ...doc, beat: 1, state: 'running' });
    await put({ _id: 'j', type: 'job', flow: 'greet' });
    const explained = tws(explain, { args: ['j'] });
    const rev = (await store.get(id))?._rev;
    await new Promise((resolve) => setTimeout(resolve, 500));
    await store.write({ ...doc, _id: id, _rev: String(rev), beat: 2, state: 'running' });
    expect((await explained).out).toContain('an engine may take it at any moment');
  });

  it('knows only jobs', async () => {
    const { tws } = await ready();
    expect((await tws(explain, { args: ['nix'] })).error?.code).toBe('name_missing');
    expect((await tws(explain, { args: ['t1'] })).error?.code).toBe('document_kind');
  });
});
