import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/commands/doctor.js';
import { explain } from '../../src/cli/commands/explain.js';
import { push } from '../../src/cli/commands/push.js';
import { schedule } from '../../src/cli/commands/schedule.js';
import { createClient } from '../../src/client.js';
import { namesFor } from '../../src/cli/completion/names.js';
import { view } from '../../src/cli/commands/view.js';
import type { StoredDocument } from '../../src/model/document.js';
import { openApi } from '../http/server.js';
import { openProject, type Project } from './database.js';
import { flow, project, run, task, type Ran, type RunOptions } from './terminal.js';

const id = 'schedule:me:nightly';
/** Nothing of it starts while the tests run. */
const later = (more: object = {}): Readonly<Record<string, unknown>> => ({
  ...{ _id: id, type: 'schedule', name: 'nightly', owner: 'me', flow: 'report' },
  ...{ cron: '0 3 * * *', time_zone: 'Europe/Berlin', from: '2030-01-01T00:00:00Z' },
  ...more,
});
const hourly = { cron: undefined, time_zone: undefined, every: 'PT1H' };

type Opened = Project & {
  readonly call: (line: string, more?: Partial<RunOptions>) => Promise<Ran>;
  readonly stored: () => Promise<StoredDocument | undefined>;
};

async function opened(...docs: readonly Readonly<Record<string, unknown>>[]): Promise<Opened> {
  const workspace = await openProject();
  await workspace.put(
    { ...task('quick'), _id: 'task:DEFAULT:quick' },
    { ...flow('report', ['quick'], { owner: 'me' }), _id: 'flow:me:report' },
    ...docs,
  );
  return {
    ...workspace,
    call: (line, more = {}) => workspace.tws(schedule, { args: line.split(' '), ...more }),
    stored: () => workspace.store.get(id),
  };
}

describe('tws schedule list', () => {
  it('prints a line for each: name, owner, flow, timing, status, next, last and id', async () => {
    const often = later({ ...hourly, _id: 's2', name: 'often', owner: 'ada', offset: 300_000 });
    const { call } = await opened(later(), often);
    const { exit, out, json } = await call('list');
    expect(exit).toBe(0);
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      [
        ...['nightly', 'me', 'report', '0 3 * * * Europe/Berlin', 'new'],
        ...['2030-01-01T02:00:00Z', '-', id],
      ],
      [
        ...['often', 'ada', 'report', 'every 1 h, offset 5 min', 'new'],
        ...['2030-01-01T00:05:00Z', '-', 's2'],
      ],
    ]);
    expect(json).toMatchObject([{ next: { time: '2030-01-01T03:00:00+01:00' } }, { id: 's2' }]);
    const { out: own } = await call('list', { settings: { owner: 'ada' } });
    expect(own).toMatch(/^often {2}[^\n]+$/);
    const none = await call('list', { settings: { owner: 'bob' } });
    expect(none.err).toContain('There is no schedule of owner "bob" yet');
  });

  it('has heads on a terminal, and times as seen from now', async () => {
    const { call } = await opened(later());
    const { out } = await call('list', { terminal: true });
    expect(out).toMatch(/^NAME .* NEXT .* ID\nnightly .* new {2,}in \d+ d/);
  });
});

describe('tws schedule show', () => {
  it('says what came of its slots, and which come next', async () => {
    const { call, engine, put, until } = await opened();
    await engine();
    const at = [Date.now(), '2030-01-01T03:00:00Z'];
    const written = { ...later({ from: undefined, at }), cron: undefined, time_zone: undefined };
    await put(written);
    const isStarted = (it: StoredDocument): boolean =>
      JSON.stringify(it['progress'] ?? '').includes('"kind":"started"');
    const doc = await until(id, isStarted, 30_000);
    const { recent } = doc['progress'] as { recent: readonly { job: string }[] };
    const job = recent[0]?.job ?? '';
    await until(job, ({ state }) => state === '$$complete');
    const { exit, out, json } = await call('show nightly');
    expect(exit).toBe(0);
    for (const text of [
      `nightly::me => report active (${id})`,
      'so far       started 1, skipped 0, missed 0',
      'next         2030-01-01T03:00:00Z  in ',
      'overlap      skip (the default)',
    ]) {
      expect(out).toContain(text);
    }
    expect(out).toMatch(new RegExp(`started {2,}succeeded {2,}${job}`));
    expect(json).toMatchObject({
      status: 'active',
      started: 1,
      recent: [{ job, status: 'succeeded' }],
    });
  });

  it('tells, and so does the doctor, what one hardly means', async () => {
    const { call, tws } = await opened(
      later({ flow: 'reprot', time_zone: undefined, timezone: 'Europe/Berlin' }),
    );
    const { out } = await call('show nightly');
    expect(out).toContain('flow names "reprot", which is not stored: each of its jobs fails.');
    expect(out).toContain('did you mean "time_zone"?');
    expect(await tws(doctor)).toMatchObject({
      out: expect.stringContaining(`schedule ${id}: flow names "reprot"`) as string,
    });
  });

  it('is told by push and the doctor when its jobs would have the ids of those of another one', async () => {
    const space = await opened(later({ _id: 'schedule:x' }));
    const { put, tws, root } = space;
    const { _id, ...twin } = later({ _id: 'x', name: 'twin' });
    await writeFile(join(root, 'twin.json'), JSON.stringify({ _id, ...twin }));
    const pushed = await tws(push, { args: ['twin.json'] });
    expect([pushed.exit, pushed.err]).toEqual([
      3,
      expect.stringContaining('_id must be another one: schedule "schedule:x" gives its jobs'),
    ]);
    const api = await openApi({ workspace: space });
    const { status, body } = await api.ask('PUT', '/schedules/x', { body: { _id, ...twin } });
    expect([status, body['path']]).toEqual([422, '_id']);
    await put({ ...twin, _id });
    expect((await tws(doctor)).out).toContain('schedule x: _id must be another one');
  });

  it('refuses a backfill of what is yet to come', async () => {
    const { call } = await opened(later());
    const flags = { from: '2100-01-01', until: '2101-01-01' };
    const { error } = await call('backfill nightly', { flags });
    expect(error).toMatchObject({ code: 'usage' });
    expect(error?.message).toContain('--from must have passed');
  });

  it('shows what is wrong with one that no engine can follow', async () => {
    const { call, engine, until, tws } = await opened(later({ cron: '* * 3 0 0 * *' }));
    await engine();
    await until(id, (doc) => doc['problems'] !== undefined);
    expect(await tws(doctor)).toMatchObject({
      exit: 1,
      out: expect.stringMatching(`schedule ${id}: It starts no job: cron must have`) as string,
    });
    const { out } = await call('show nightly');
    expect(out).toContain('=> report invalid');
    expect(out).toMatch(/ problem {2,}cron must have 5 or 6 fields/);
    expect(await call('run nightly')).toMatchObject({
      exit: 3,
      error: { code: 'document_invalid' },
    });
    expect(await call('next nightly')).toMatchObject({
      ...{ exit: 3, error: { code: 'document_invalid' } },
      error: { message: expect.stringContaining('cron must have 5 or 6 fields') as string },
    });
  });
});

describe('a schedule', () => {
  it('is called by its id, its name, or name::owner', async () => {
    const { call } = await opened(later(), later({ _id: 's2', owner: 'ada' }));
    for (const name of [id, 'nightly::me']) {
      expect((await call(`show ${name}`)).out).toContain(`(${id})`);
    }
    expect((await call('show nightly', { settings: { owner: 'ada' } })).out).toContain('(s2)');
    const many = await call('show nightly');
    expect(many).toMatchObject({ exit: 2, error: { code: 'name_ambiguous' } });
    expect(many.err).toContain('schedule  nightly::ada => report (s2)');
    const none = await call('show weekly');
    expect(none).toMatchObject({ exit: 4, error: { code: 'name_missing' } });
    expect(none.error?.message).toBe(
      'There is no document "weekly", and no schedule of that name.',
    );
    // A flow of that name is no schedule.
    expect((await call('show report')).exit).toBe(4);
  });

  it('is viewed as a document, and tws explain leads to the command for it', async () => {
    const { tws } = await opened(later());
    expect((await tws(view, { args: ['nightly'] })).json).toMatchObject({ _id: id });
    expect((await tws(view, { args: ['report'] })).json).toMatchObject({ type: 'flow' });
    const { error } = await tws(explain, { args: [id] });
    expect(error?.message).toBe(`Document "${id}" is a schedule, not a job.`);
    expect(error?.hint).toContain('`tws schedule show`');
  });
});

describe('the names of schedules', () => {
  it('complete what is being written, with what they are', async () => {
    const { store } = await opened(later());
    const open = () =>
      Promise.resolve({ client: createClient({ store }), close: () => Promise.resolve() });
    const wanted = { sources: ['schedule' as const], prefix: '', begun: 'ni' };
    expect(await namesFor(wanted, { cwd: '/', jobFiles: '/', open })).toEqual([
      { value: 'nightly', about: 'schedule of me' },
    ]);
  });
});

describe('tws schedule next', () => {
  it('prints the next slots, in the time zone of the schedule', async () => {
    const { call } = await opened(later({ from: '2030-03-30T00:00:00Z' }));
    const { out, json } = await call('next nightly', { flags: { count: '2' } });
    expect(out.split('\n').map((line) => line.split('  ')[0])).toEqual([
      '2030-03-30T03:00:00+01:00',
      '2030-03-31T03:00:00+02:00',
    ]);
    expect(json).toMatchObject([
      { slot: '2030-03-30T02:00:00Z' },
      { slot: '2030-03-31T01:00:00Z' },
    ]);
    expect((await call('next nightly')).json).toHaveLength(10);
  });
});

describe('tws schedule pause and resume', () => {
  it('changes what is not so already, and says so', async () => {
    const { call, stored } = await opened(later());
    expect((await call('pause nightly')).out).toBe(`paused: ${id}`);
    expect(await stored()).toMatchObject({ paused: true });
    expect(await call('pause nightly')).toMatchObject({
      ...{ exit: 0, out: `skipping: ${id} (already paused)` },
      json: { id, paused: true, changed: false },
    });
    expect((await call('resume nightly')).out).toBe(`resumed: ${id}`);
    expect(await stored()).not.toHaveProperty('paused');
  });

  it('goes on with the others when one of several is missing', async () => {
    const { call, stored } = await opened(later());
    const { exit, err } = await call('pause weekly nightly');
    expect(exit).toBe(1);
    expect(err).toContain('There is no document "weekly"');
    expect(await stored()).toMatchObject({ paused: true });
  });
});

describe('tws schedule run', () => {
  it('submits a job beside the slots, and exits as it does with --wait', async () => {
    const { call, engine, store } = await opened(later({ ...hourly, params: { quick: { a: 1 } } }));
    const { exit, json } = await call('run nightly');
    expect(exit).toBe(0);
    const { id: job } = json as { id: string };
    expect(job).toMatch(/^schedule-run:me:nightly:\d{4}-/);
    expect(await store.get(job)).toMatchObject({ params: { quick: { a: 1 } }, schedule: { id } });
    await engine();
    const waited = await call('run nightly', { flags: { wait: true } });
    expect(waited).toMatchObject({ exit: 0, json: { state: '$$complete' } });
  });
});

describe('tws schedule backfill', () => {
  it('runs the slots of a period that have no job', async () => {
    const { call, engine, store, until } = await opened(later({ ...hourly, from: 0 }));
    await engine();
    const flags = { from: '2026-01-01T00:00Z', until: '2026-01-01T03:00Z', atOnce: '2', by: 'ada' };
    const { exit, out } = await call('backfill nightly', { flags });
    expect(exit).toBe(0);
    expect(out).toBe(
      `backfilling: ${id} from 2026-01-01T00:00:00Z until before 2026-01-01T03:00:00Z`,
    );
    const isDone = (doc: StoredDocument): boolean =>
      JSON.stringify(doc['progress'] ?? '').includes('backfilled');
    expect(await until(id, isDone)).not.toHaveProperty('backfill');
    const jobs = await store.range('schedule-run:me:nightly:');
    expect(jobs.map(({ _id }) => _id.slice(-'00:00:00Z'.length))).toEqual([
      ...['00:00:00Z', '01:00:00Z', '02:00:00Z'],
    ]);
    const { out: shown } = await call('show nightly');
    expect(shown).toContain('backfilled (3 until 2026-01-01T03:00:00Z)');
    expect(shown).toMatch(/of backfills:\n +schedule-run:\S+ +backfill by ada +succeeded/);
  });

  it('is called off, and told when it takes the place of another one', async () => {
    const { call, stored } = await opened(later({ ...hourly, from: 0 }));
    const flags = { from: '2026-01-01T00:00Z', until: '2026-01-02T00:00Z' };
    await call('backfill nightly', { flags });
    expect(await stored()).toMatchObject({ backfill: { until: '2026-01-02T00:00:00Z' } });
    const again = await call('backfill nightly', { flags });
    expect(again.err).toContain('It takes the place of the backfill from 2026-01-01T00:00:00Z');
    expect((await call('backfill nightly', { flags: { cancel: true } })).out).toContain(
      'cancelled:',
    );
    expect(await stored()).not.toHaveProperty('backfill');
    const none = await call('backfill nightly', { flags: { cancel: true } });
    expect(none).toMatchObject({ exit: 0, out: `skipping: ${id} (it has no backfill)` });
  });
});

describe('a call of tws schedule that cannot be meant', () => {
  const period = { from: '2026-01-02', until: '2026-01-01' };
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['stop nightly', {}, 'There is no "tws schedule stop"; it is one of list, show'],
    ['list nightly', {}, 'tws schedule list takes no name.'],
    ['show', {}, 'tws schedule show takes the name of one schedule.'],
    ['run a b', {}, 'tws schedule run takes the name of one schedule.'],
    ['pause', {}, 'tws schedule pause takes names of schedules.'],
    ['pause nightly', { count: '3' }, 'tws schedule pause has no option --count.'],
    ['run nightly', { atOnce: '3' }, 'tws schedule run has no option --at-once.'],
    ['next nightly', { count: '0' }, '--count must be a whole number from 1 to 1000.'],
    ['backfill nightly', { from: 'yesterday' }, '--from must be a time such as 2030-01-31'],
    ['backfill nightly', { until: '2026-01-02' }, 'Name the period by --from'],
    ['backfill nightly', period, '--from must be before --until.'],
    ['backfill nightly', { ...period, cancel: true }, '--cancel goes without --from'],
  ])('is refused: %s %j', async (line, flags, message) => {
    const isRead = /--from must be before|--cancel goes|Name the period/.test(message);
    const { env, root } = isRead ? await opened(later()) : { env: {}, root: await project() };
    const { exit, error } = await run(schedule, { cwd: root, env, args: line.split(' '), flags });
    expect([exit, error?.code]).toEqual([2, 'usage']);
    expect(error?.message).toContain(message);
  });
});
