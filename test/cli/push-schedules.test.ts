import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newThing } from '../../src/cli/commands/new.js';
import { push } from '../../src/cli/commands/push.js';
import { validate } from '../../src/cli/commands/validate.js';
import { openProject } from './database.js';
import { flow, project, run, task } from './terminal.js';

const id = 'schedule:me:nightly';
const path = 'couch/tws/schedules/nightly.json';
const nightly = (more: object = {}): object => ({
  ...{ type: 'schedule', name: 'nightly', owner: 'me', flow: 'f', cron: '0 3 * * *' },
  ...more,
});
const files = {
  'couch/tws/tasks/a.json': task('a'),
  'couch/tws/flows/f.json': flow('f', ['a']),
  [path]: nightly(),
};

describe('tws push of schedules', () => {
  it('stores them after their flows, and has nothing to do when an engine wrote into them', async () => {
    const { tws, engine, until, store } = await openProject(files);
    const { out } = await tws(push, { flags: { map: true } });
    expect(out.split('\n').at(-1)).toMatch(`inserting: ${path} => ok ${id} 1-`);
    await engine();
    await until(id, (doc) => doc['next_due'] !== undefined, 60_000);
    const again = await tws(push, { flags: { schedules: true } });
    expect(again.out).toBe(`skipping: ${path} (already up to date)`);
    expect(await store.get(id)).toMatchObject({ pushed_from: expect.any(String) as string });
  });

  it('keeps what engines and operators wrote when the file changes', async () => {
    const { tws, root, store, put } = await openProject(files);
    await tws(push, { flags: { map: true } });
    const kept = {
      ...{ paused: true, next_due: 7, problems: [{ path: 'cron', message: 'cron is old.' }] },
      progress: {
        edition: 2,
        timing: '',
        handled: 1,
        started: 4,
        skipped: 0,
        missed: 0,
        recent: [],
      },
      backfill: { from: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' },
    };
    await put({ ...(await store.get(id)), ...kept });
    await writeFile(join(root, path), JSON.stringify(nightly({ _id: id, cron: '0 4 * * *' })));
    expect((await tws(push, { flags: { schedules: true } })).out).toMatch(/^updating: /);
    expect(await store.get(id)).toMatchObject({ ...kept, cron: '0 4 * * *' });
    await writeFile(join(root, path), JSON.stringify(nightly({ _id: id, paused: false })));
    await tws(push, { flags: { schedules: true } });
    expect(await store.get(id)).toMatchObject({ paused: false, cron: '0 3 * * *' });
  });

  it('is taken back by --prune before the flow that they run', async () => {
    const { tws, root, store } = await openProject(files);
    await tws(push, { flags: { map: true } });
    const pruned = async (flags: object): Promise<string> =>
      (await tws(push, { flags: { ...flags, prune: true, confirm: false } })).out;
    await rm(join(root, 'couch/tws/flows/f.json'));
    const { err, exit } = await tws(push, { flags: { flows: true, prune: true, confirm: false } });
    expect(exit).toBe(3);
    expect(err).toContain(`${id} in the database: flow: It names what --prune would remove.`);
    await rm(join(root, path));
    expect(await pruned({ map: true })).toMatch(
      /removing: schedule:me:nightly .*\nremoving: flow:DEFAULT:f /,
    );
    expect(await store.get(id)).toBeUndefined();
  });
});

describe('tws new schedule', () => {
  it('makes a file that is valid', async () => {
    const cwd = await project({ 'couch/tws/flows/f.json': flow('f', []) });
    const { out } = await run(newThing, {
      cwd,
      args: ['schedule', 'nightly'],
      flags: { flow: 'f' },
    });
    const [created, cron, ...times] = out.split('\n');
    expect(created).toBe(`created: ${path}`);
    expect(cron).toMatch(/^Its cron "0 3 \* \* \*" \(minute, hour, .*\) means in /);
    expect(times).toHaveLength(3);
    expect(times[0]).toMatch(/^\d{4}-\d\d-\d\dT03:00:00\S+ {2}in /);
    const doc = JSON.parse(await readFile(join(cwd, path), 'utf8')) as object;
    expect(doc).toMatchObject({ $schema: '../../schemas/schedule.json', flow: 'f' });
    const { exit, out: said } = await run(validate, {
      cwd,
      env: { COUCH_URL: 'http://127.0.0.1:1' },
    });
    expect([exit, said]).toEqual([
      0,
      `valid: couch/tws/flows/f.json (flow)\nvalid: ${path} (schedule)`,
    ]);
  });

  it('takes --flow alone', async () => {
    const given = { cwd: await project(), args: ['task', 't'], flags: { flow: 'f' } };
    expect((await run(newThing, given)).error?.message).toBe(
      '--flow is for tws new schedule and tws new hook.',
    );
  });
});

const none = { cron: undefined };
const year = '2026-01-01T00:00:00Z';

describe('tws validate of a schedule', () => {
  const env = { COUCH_URL: 'http://127.0.0.1:1' };
  it.each<readonly [string, object, string]>([
    ['7 fields', { cron: '0 0 3 * * * *' }, 'cron must have 5 or 6 fields'],
    ['a date that never comes', { cron: '0 0 30 2 *' }, 'cron names a date that never comes.'],
    ['no such zone', { time_zone: 'Mars/Base' }, 'time_zone must be an IANA time zone'],
    ['cron and every', { every: 60_000 }, 'cron must be the only one of "cron", "every" and "at".'],
    ['no timing', none, 'cron is missing; it must be given, or "every" or "at" in its place.'],
    ['every of 0', { ...none, every: 0 }, 'every must be at least a second'],
    ['every with months', { ...none, every: 'P1M' }, 'every must be a duration in whole seconds'],
    ['offset alone', { offset: 1_000 }, 'offset must be left out without "every".'],
    [
      'a zone without cron',
      { ...none, every: 'PT1H', time_zone: 'UTC' },
      'time_zone must be left out without "cron"',
    ],
    ['count of 0', { count: 0 }, 'count must be a whole number, 1 or more'],
    ['at that is no list', { ...none, at: year }, 'at must be a list of at most 1000 times'],
    ['a time without a zone', { ...none, at: ['2026-01-01T00:00'] }, 'at[0] must be a time'],
    [
      'from after until',
      { from: '2031-01-01T00:00Z', until: '2030-01-01T00:00Z' },
      'until must be later',
    ],
    [
      'a reversed backfill',
      { backfill: { from: year, until: year } },
      'backfill must have a "from"',
    ],
    ['an overlap that is none', { overlap: 'queue' }, 'overlap must be one of skip, one, all'],
    ['no flow', { flow: undefined }, 'flow is missing.'],
    ['what engines write', { progress: {} }, 'progress is written by the engines; leave it out.'],
  ])('refuses %s, with path and sentence', async (_title, more, message) => {
    const cwd = await project({ 's.json': nightly(more) });
    const { exit, err } = await run(validate, { cwd, env, args: ['s.json'] });
    expect(exit).toBe(3);
    expect(err).toContain(`s.json: ${message}`);
  });

  it.each<readonly [string, object, string]>([
    ['at in the past', { ...none, at: [year] }, 'at names only times in the past'],
    ['until in the past', { until: year }, 'until is in the past'],
    [
      'until before the first slot',
      { cron: '0 0 1 1 *', from: '2031-02-01T00:00Z', until: '2031-03-01T00:00Z' },
      'until comes before the next slot',
    ],
    [
      'a backfill',
      { backfill: { from: year, until: '2026-02-01T00:00:00Z' } },
      'backfill in a file begins anew',
    ],
    ['a mistyped key', { timezone: 'Europe/Berlin' }, 'did you mean "time_zone"?'],
  ])('warns of %s', async (_title, more, message) => {
    const cwd = await project({ 's.json': nightly(more) });
    const { exit, err } = await run(validate, { cwd, env, args: ['s.json'] });
    expect(exit).toBe(0);
    expect(err).toContain('warning: s.json: ');
    expect(err).toContain(message);
  });
});
