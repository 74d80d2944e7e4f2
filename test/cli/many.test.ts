import { describe, expect, it } from 'vitest';
import { list } from '../../src/cli/commands/list.js';
import { retry } from '../../src/cli/commands/repair.js';
import { cancel, pause, resume } from '../../src/cli/commands/request.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const plugins = {
  'moody.mjs': `export default ({ params }) => {
    if (params.well !== true) throw Object.assign(new Error('not well'), { code: 'EUNWELL' });
  };`,
};
const definitions = [
  { _id: 't1', ...task('moody', { plugin: 'moody' }) },
  { _id: 'f1', ...flow('f', ['moody']) },
  { _id: 'f2', ...flow('g', ['moody']) },
  { _id: 'f3', ...flow('asks', [{ wait: { signal: 'go' } }], { timeout: 0 }) },
];

type Ended = { readonly id: string; readonly flow: string; readonly start: number };

/** A job that has failed, as an engine leaves it. */
const failed = ({ id, flow: name, start }: Ended) => ({
  ...{ _id: id, type: 'job', flow: name, owner: 'DEFAULT', state: '$$complete', exit: 2 },
  ...{ start, end: start + 10, failure: { name: 'Failed', message: 'not well', code: 'EUNWELL' } },
});

/** Jobs whose flows and ids come in another order than their times. */
const mixed = (count: number): readonly Ended[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `job-${(i * 7) % count}`,
    flow: i % 2 === 0 ? 'g' : 'f',
    start: 1_700_000_000_000 + i * 1_000,
  }));

type Listed = { readonly jobs: readonly { readonly id: string; readonly key: string }[] };

describe('tws list of many jobs', () => {
  it('shows the newest, newest first, also beyond its limit', async () => {
    const { tws, put } = await openProject({}, plugins);
    const jobs = mixed(150);
    await put(...definitions, ...jobs.map(failed));
    const newest = [...jobs].reverse().map(({ id }) => id);
    const { json, out, err } = await tws(list, { flags: { jobs: true, all: true } });
    expect((json as Listed).jobs.map(({ id }) => id)).toEqual(newest.slice(0, 100));
    expect(out.split('\n')).toHaveLength(100);
    expect(err).toContain('50 jobs more not shown; `--limit N` shows more than 100.');
    const whole = await tws(list, { flags: { all: true, limit: '150' } });
    expect((whole.json as Listed).jobs.map(({ id }) => id)).toEqual(newest);
    expect(whole.err).toBe('');
  });

  it('chooses them by flow, owner and status', async () => {
    const { tws, put } = await openProject({}, plugins);
    await put(
      ...mixed(4).map(failed),
      { _id: 'new', type: 'job', flow: 'f' },
      { _id: 'own', type: 'job', flow: 'f', owner: 'me' },
    );
    const ids = async (flags: object, settings = {}): Promise<readonly string[]> => {
      const { json } = await tws(list, { flags: { ...flags }, settings });
      return (json as Listed).jobs.map(({ id }) => id).sort();
    };
    expect(await ids({ flow: 'f', all: true })).toEqual(['job-1', 'job-3', 'new', 'own']);
    expect(await ids({ flow: 'f' })).toEqual(['new', 'own']);
    expect(await ids({ flow: 'f::me' })).toEqual(['own']);
    expect(await ids({ jobs: true }, { owner: 'me' })).toEqual(['own']);
    expect(await ids({ flow: 'g', status: 'failed,queued' })).toEqual(['job-0', 'job-2']);
    const both = await tws(list, { flags: { failed: true, status: 'failed' } });
    expect(both.error?.message).toBe('--failed and --status exclude each other.');
    const wrong = await tws(list, { flags: { status: 'broken' } });
    expect(wrong.error?.message).toMatch(/^--status must be of queued, /);
  });

  it('says so when there is none', async () => {
    const { tws, put } = await openProject({}, plugins);
    const none = await tws(list, { flags: { tasks: true, flows: true, engines: true } });
    expect(none.err).toMatch(/There is no task yet.*\nThere is no flow yet.*\nThere is no engine;/);
    await put(...mixed(2).map(failed));
    const { out, err } = await tws(list, { flags: { jobs: true } });
    expect(out).toBe('');
    expect(err).toContain('No job is unfinished; `tws list --jobs --all` shows');
    const like = await tws(list, { flags: { cancelled: true } });
    expect(like.err).toBe('No job matches.');
  });
});

describe('tws retry --failed', () => {
  const chosen = { failed: true, params: '{"moody": {"well": true}}' };

  // Shows X-36.
  it('retries all that failed, however many, and says how many', async () => {
    const { tws, put, engine } = await openProject({}, plugins);
    await put(...definitions, ...mixed(230).map(failed));
    await engine();
    const flags = { ...chosen, failure: 'EUNWELL' };
    const { exit, out, err, json } = await tws(retry, { flags });
    expect(exit).toBe(0);
    expect(out).toMatch(/^retry: applied to \d+ jobs/);
    expect(err).toContain('retry: 0 of 230 jobs');
    expect(err).toContain('retry: 230 of 230 jobs');
    expect(json).toHaveLength(230);
    const succeeded = async (): Promise<number> => {
      const wanted = { status: 'succeeded', limit: '300' };
      return ((await tws(list, { flags: wanted })).json as Listed).jobs.length;
    };
    await expect.poll(succeeded).toBe(230);
  });

  it('goes on with those that are left when it was interrupted', async () => {
    const { tws, put, store } = await openProject({}, plugins);
    await put(...definitions, ...mixed(250).map(failed));
    const requests = async (): Promise<number> =>
      (await store.view('requests', { limit: 1_000 })).length;
    const interrupt = new AbortController();
    const first = tws(retry, { flags: chosen, stop: interrupt.signal });
    await expect.poll(requests).toBeGreaterThan(0);
    interrupt.abort();
    const { exit, err } = await first;
    expect(exit).toBe(130);
    expect(err).toMatch(/Interrupted: \d+ jobs left\. Repeat the command to go on with them\./);
    expect(await requests()).toBeLessThan(250);
  });

  it('stores the requests without waiting where no engine runs', async () => {
    const { tws, put } = await openProject({}, plugins);
    await put(...definitions, ...mixed(3).map(failed));
    const { exit, out } = await tws(retry, { flags: { ...chosen, limit: '2' } });
    expect(exit).toBe(0);
    expect(out).toBe('retry: applied to 0 jobs, stored for 2 (an engine will take it)');
  });

  it('needs jobs, or a choice, and not both', async () => {
    const { tws } = await openProject({}, plugins);
    for (const [args, flags] of [
      [[], {}],
      [['j'], { failed: true }],
      [['j'], { flow: 'f' }],
    ] as const) {
      expect((await tws(retry, { args, flags })).error?.code).toBe('usage');
    }
  });
});

describe('tws pause, resume and cancel', () => {
  // Shows L-04.
  it('take several jobs, or all that are chosen', async () => {
    const { tws, put, engine, until, ended } = await openProject({}, plugins);
    const ids = ['a', 'b', 'c'];
    await put(...definitions, ...ids.map((_id) => ({ _id, type: 'job', flow: 'asks' })));
    await engine();
    for (const id of ids) await until(id, ({ steps }) => Array.isArray(steps) && steps.length > 0);
    const paused = await tws(pause, { flags: { every: true, flow: 'asks' } });
    expect(paused).toMatchObject({ exit: 0, out: 'pause: applied to 3 jobs' });
    for (const id of ids) await until(id, ({ state }) => state === '$$paused');
    expect((await tws(resume, { args: ['a', 'b'] })).exit).toBe(0);
    for (const id of ['a', 'b']) await until(id, ({ state }) => state !== '$$paused');
    const asked = await tws(cancel, { flags: { every: true } });
    expect(asked).toMatchObject({ exit: 2, error: { code: 'many_unconfirmed' } });
    const some = { every: true, status: 'paused', confirm: false };
    expect((await tws(cancel, { flags: some })).out).toBe('cancel: applied to 1 job');
    expect(await ended('c')).toMatchObject({ exit: 130 });
    const rest = { every: true, confirm: false };
    expect((await tws(cancel, { flags: rest })).out).toBe('cancel: applied to 2 jobs');
    for (const id of ids) expect(await ended(id)).toMatchObject({ exit: 130 });
  });

  it('need to know which jobs', async () => {
    const { tws } = await openProject({}, plugins);
    expect((await tws(cancel)).error?.message).toContain('Name jobs, or choose them by --every');
    expect((await tws(pause, { args: ['j'], flags: { every: true } })).error?.code).toBe('usage');
    expect((await tws(resume, { args: ['j'], flags: { flow: 'f' } })).error?.code).toBe('usage');
  });
});
