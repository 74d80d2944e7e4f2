import { describe, expect, it } from 'vitest';
import { slotJobPrefix, type ScheduleProgress } from '../../src/model/schedule.js';
import { flow, task } from '../cli/terminal.js';
import { openApi, type TestApi, type TestOptions } from './server.js';

type Slot = { readonly slot: number; readonly due: number; readonly time: string };
type Shown = {
  readonly id: string;
  readonly rev: string;
  readonly edition: string;
  readonly status: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly slots: readonly Slot[];
  readonly next?: Slot;
  readonly last?: object;
};

const plugins = { 'quick.mjs': 'export default () => ({ done: true });' };
const hourly = { name: 'hourly', flow: 'tick', cron: '0 * * * *', time_zone: 'Europe/Berlin' };
const id = 'schedule:DEFAULT:hourly';

/** An API with a flow, and a schedule of it; no engine. */
async function withSchedule(options: TestOptions = {}): Promise<TestApi> {
  const api = await openApi({ files: plugins, ...options });
  await api.put(
    { ...task('quick'), _id: 'task:DEFAULT:quick' },
    { ...flow('tick', ['quick']), _id: 'flow:DEFAULT:tick' },
  );
  await api.put({ ...hourly, _id: id, type: 'schedule' });
  return api;
}

const progressOf = (doc: { readonly [key: string]: unknown } | undefined) =>
  doc?.['progress'] as ScheduleProgress | undefined;

describe('reading schedules', () => {
  it('lists them by owner, with their status, their next slot and what came of the last one', async () => {
    const api = await withSchedule();
    const { ask, put } = api;
    const now = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const recent = [{ slot: now - 1_200_000, at: now - 1_199_000, kind: 'started', job: 'j' }];
    const counts = { started: 1, skipped: 0, missed: 0 };
    const progress = { edition: 1, timing: '', handled: now - 1_200_000, ...counts };
    await put({
      ...{ _id: 's', type: 'schedule', name: 'acmes', owner: 'acme', flow: 'tick', every: 'PT1H' },
      next_due: now + 2_400_000,
      progress: { ...progress, recent },
    });
    const ended = {
      type: 'job',
      flow: 'tick',
      steps: [],
      start: 1,
      end: 2,
      state: '$$cancelled',
      exit: 130,
    };
    await put({ ...ended, _id: 'j', owner: 'other' }, { ...ended, _id: 'k', owner: 'acme' });
    const lastOf = async () =>
      (await ask<{ schedules: readonly Shown[] }>('GET', '/schedules')).body.schedules[0]?.last;
    // The job of another owner is not looked at, whatever the document says.
    expect(await lastOf()).toEqual(recent[0]);
    const stored = { ...(await api.client.get('s')), _id: 's' };
    const own = { ...recent[0], job: 'k' };
    await api.client.write({ ...stored, progress: { ...progress, edition: 2, recent: [own] } });
    expect(await lastOf()).toEqual({ ...own, status: 'cancelled' });
    const { body } = await ask<{ schedules: readonly Shown[] }>('GET', '/schedules');
    expect(body.schedules).toMatchObject([
      { id: 's', name: 'acmes', owner: 'acme', status: 'active', last: own },
      { id, name: 'hourly', owner: 'DEFAULT', status: 'new' },
    ]);
    const [utc, berlin] = body.schedules.map(({ next }) => next);
    expect(utc?.time).toBe(new Date(utc?.slot ?? 0).toISOString().replace('.000Z', 'Z'));
    expect(utc?.due).toBe(utc?.slot);
    expect((utc?.slot ?? 0) - Date.now()).toBeGreaterThan(0);
    expect(berlin?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\+0[12]:00$/);
    const ofAcme = await ask<{ schedules: readonly Shown[] }>('GET', '/schedules?owner=acme');
    expect(ofAcme.body.schedules.map(({ id: one }) => one)).toEqual(['s']);
    const named = await ask<{ schedules: readonly Shown[] }>('GET', '/schedules?name=hourly');
    expect(named.body.schedules.map(({ id: one }) => one)).toEqual([id]);
  });

  it('tells as many slots to come of one as are asked for', async () => {
    const { ask } = await withSchedule();
    for (const called of [id, 'hourly', 'hourly::DEFAULT']) {
      const { body, status } = await ask<Shown>('GET', `/schedules/${called}`);
      expect([called, status, body.id, body.slots.length]).toEqual([called, 200, id, 5]);
    }
    const { body } = await ask<Shown>('GET', '/schedules/hourly?next=10');
    const gaps = body.slots.slice(1).map(({ slot }, i) => slot - (body.slots[i]?.slot ?? 0));
    expect(gaps).toEqual(Array.from({ length: 9 }, () => 3_600_000));
    expect((await ask('GET', '/schedules/hourly?next=no')).status).toBe(400);
    expect((await ask('GET', '/schedules/nothing')).body).toMatchObject({
      error: 'definition_missing',
    });
  });

  it('tells a slot that waits for its jitter, and none of a paused or malformed one', async () => {
    const { ask, put } = await withSchedule();
    // Its first slot has passed since, and its job starts up to a hundred years later.
    const handled = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 1;
    const progress = {
      ...{ edition: 1, timing: '', handled, started: 0, skipped: 0, missed: 0 },
      recent: [],
    };
    await put(
      { ...hourly, _id: 'late', type: 'schedule', name: 'late', jitter: 'P36500D', progress },
      { ...hourly, _id: 'off', type: 'schedule', name: 'off', paused: true },
      { ...hourly, _id: 'bad', type: 'schedule', name: 'bad', cron: 'x' },
    );
    const slotsOf = async (one: string) =>
      (await ask<Shown>('GET', `/schedules/${one}`)).body.slots.map(
        ({ slot }) => slot - Date.now(),
      );
    expect((await slotsOf('late'))[0]).toBeLessThanOrEqual(0);
    expect((await slotsOf('hourly'))[0]).toBeGreaterThan(0);
    expect(await slotsOf('off')).toEqual([]);
    expect(await slotsOf('bad')).toEqual([]);
  });
});

describe('storing schedules', () => {
  it('gives telling ids, and replaces the revision that is named', async () => {
    const { ask } = await openApi();
    const made = await ask('PUT', '/schedules/hourly', { body: { ...hourly, owner: 'acme' } });
    expect(made).toMatchObject({ status: 201, body: { id: 'schedule:acme:hourly' } });
    expect(made.headers.get('location')).toBe('/_tws/schedules/schedule%3Aacme%3Ahourly');
    expect(made.body['warnings']).toMatchObject([{ path: 'flow' }]);
    const body = { ...hourly, owner: 'acme', cron: '@daily' };
    const path = '/schedules/hourly::acme';
    const again = await ask('PUT', path, { body });
    expect(again).toMatchObject({ status: 409, body: { error: 'definition_exists' } });
    const first = { 'if-match': `"${String(made.body['rev'])}"` };
    expect((await ask('PUT', path, { body, headers: first })).status).toBe(200);
    expect((await ask('PUT', path, { body, headers: first })).status).toBe(409);
    expect((await ask('PUT', `${path}?upsert=true`, { body })).status).toBe(200);
    expect((await ask('DELETE', path, { headers: first })).status).toBe(409);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', path)).status).toBe(404);
  });

  it('refuses what can be no schedule, with the path of the mistake', async () => {
    const { ask } = await openApi();
    const { cron: _cron, time_zone: _zone, ...bare } = hourly;
    const cases: readonly (readonly [object, string, RegExp])[] = [
      [{ ...bare, cron: '0 0 0 * * * *' }, 'cron', /must have 5 or 6 fields/],
      [{ ...bare, cron: '0 0 30 2 *' }, 'cron', /never comes/],
      [{ ...hourly, time_zone: 'Mars/Olympus' }, 'time_zone', /IANA time zone.*Mars\/Olympus/],
      [{ ...hourly, every: 'PT1H' }, 'cron', /the only one of/],
      [{ ...bare, every: 'PT1H', at: ['2099-01-01T00:00:00Z'] }, 'at', /the only one of/],
      [bare, 'cron', /must be given/],
      [{ ...bare, every: 0 }, 'every', /at least a second/],
      [{ ...bare, every: 1_500 }, 'every', /whole seconds/],
      [
        { ...bare, every: 'PT1H', time_zone: 'UTC' },
        'time_zone',
        /must stand beside .*cron|must .*cron/,
      ],
      [{ ...bare, at: ['tomorrow'] }, 'at[0]', /time/],
      [{ ...hourly, overlap: 'never' }, 'overlap', /one of skip/],
      [{ ...hourly, flow: 7 }, 'flow', /name/],
      [{ ...hourly, type: 'flow' }, 'type', /schedule/],
      [{ ...hourly, _id: 'flow:x' }, '_id', /flow:/],
      [{ ...hourly, backfill: { from: 2, until: 1 } }, 'backfill', /that is before its/],
    ];
    for (const [body, at, message] of cases) {
      for (const [method, path] of [
        ['PUT', '/schedules/hourly'],
        ['POST', '/schedules/check'],
      ] as const) {
        const answer = await ask<{ problems: { path: string }[] }>(method, path, { body });
        const { problems } = answer.body;
        expect([body, method, problems[0]?.path]).toEqual([body, method, at]);
        expect(JSON.stringify(problems)).toMatch(message);
      }
    }
    expect((await ask('GET', '/schedules')).body).toEqual({ schedules: [] });
  });

  it('checks one, and tells its next slots, while nothing is stored', async () => {
    const { ask } = await openApi();
    const { body } = await ask<Shown & { ok: boolean }>('POST', '/schedules/check', {
      body: { ...hourly, owner: 'DEFAULT' },
    });
    expect([body.ok, body.slots.length]).toEqual([true, 5]);
    expect((await ask('GET', '/schedules')).body).toEqual({ schedules: [] });
  });

  it('keeps what engines wrote, whatever is sent of it', async () => {
    const { ask, client, engine, until } = await withSchedule();
    await engine({ drainMs: 100 });
    const before = await until(id, (doc) => progressOf(doc) !== undefined);
    const { body: shown } = await ask<Shown>('GET', '/schedules/hourly');
    const { _rev: _old, ...document } = shown.document;
    const bare = { ...document, progress: 'mine', next_due: 7, problems: [], count: 3 };
    const headers = { 'if-match': `"${shown.edition}"` };
    const put = await ask('PUT', '/schedules/hourly', { body: bare, headers });
    expect(put.status).toBe(200);
    const after = await until(id, (doc) => doc['count'] === 3);
    expect(progressOf(after)).toMatchObject({ started: 0, timing: progressOf(before)?.timing });
    expect(after['next_due']).toBe(before['next_due']);
    expect(after['problems']).toBeUndefined();
    const without = await ask('PUT', '/schedules/hourly?upsert=true', { body: hourly });
    expect(without.status).toBe(200);
    expect(progressOf(await client.get(id))).toBeDefined();
  });

  it('takes the edition as revision however often engines wrote the schedule since', async () => {
    const { ask, put, engine, until } = await withSchedule();
    await put({ ...{ _id: 's', type: 'schedule', name: 's', flow: 'tick' }, every: 1_000 });
    const { body, headers } = await ask<Shown>('GET', '/schedules/s');
    expect(headers.get('etag')).toBe(`"${body.edition}"`);
    await engine({ drainMs: 100 });
    await until('s', (doc) => (progressOf(doc)?.started ?? 0) > 1);
    const { _rev, ...document } = body.document;
    const ifMatch = { 'if-match': `"${body.edition}"` };
    const next = { ...document, description: 'Mine.' };
    const stale = await ask('PUT', '/schedules/s', {
      body: next,
      headers: { 'if-match': body.rev },
    });
    expect(stale.status).toBe(409);
    expect((await ask('PUT', '/schedules/s', { body: next, headers: ifMatch })).status).toBe(200);
    const other = await ask('PUT', '/schedules/s', { body: next, headers: ifMatch });
    expect(other).toMatchObject({ status: 409, body: { error: 'document_conflict' } });
    expect((await ask('DELETE', '/schedules/s', { headers: ifMatch })).status).toBe(409);
    expect((await ask('DELETE', '/schedules/s')).status).toBe(204);
  });

  it('is for admins of its owner; operators pause and run, viewers read', async () => {
    const { ask, tokenOf, put } = await withSchedule({ settings: { sign_in: 'always' } });
    await put({ ...hourly, _id: 'schedule:acme:hourly', type: 'schedule', owner: 'acme' });
    const acme = '/schedules/hourly::acme';
    const body = { ...hourly, owner: 'acme' };
    const viewer = await tokenOf('tws-viewer', 'tws-owner:acme');
    const operator = await tokenOf('tws-operator', 'tws-owner:acme');
    const admin = await tokenOf('tws-admin', 'tws-owner:acme');
    const other = await tokenOf('tws-admin', 'tws-owner:zeta');
    const statusOf = async (method: string, path: string, token: string, more: object = {}) =>
      (await ask(method, path, { token, ...more })).status;
    expect(await statusOf('GET', acme, viewer)).toBe(200);
    expect(await statusOf('POST', `${acme}/pause`, viewer)).toBe(403);
    expect(await statusOf('POST', `${acme}/pause`, operator)).toBe(200);
    expect(await statusOf('POST', `${acme}/run`, operator)).toBe(201);
    expect(await statusOf('PUT', `${acme}?upsert=true`, operator, { body })).toBe(403);
    expect(await statusOf('PUT', `${acme}?upsert=true`, admin, { body })).toBe(200);
    for (const [method, path] of [
      ['GET', acme],
      ['DELETE', acme],
      ['POST', `${acme}/resume`],
      ['POST', `${acme}/run`],
      ['DELETE', `${acme}/backfill`],
    ] as const) {
      expect([method, path, await statusOf(method, path, other)]).toEqual([method, path, 404]);
    }
    const period = { body: { from: 1, until: 2 } };
    expect(await statusOf('POST', `${acme}/backfill`, other, period)).toBe(404);
    expect(await statusOf('PUT', `${acme}?upsert=true`, other, { body })).toBe(403);
    expect(await statusOf('GET', '/schedules?owner=acme', other)).toBe(403);
    const { body: listed } = await ask('GET', '/schedules', { token: other });
    expect(listed).toEqual({ schedules: [] });
  });

  it('shows no secret, and keeps it when what was shown is stored', async () => {
    const { ask, client } = await openApi();
    const params = { quick: { password: 'hunter2' } };
    await ask('PUT', '/schedules/hourly', { body: { ...hourly, params } });
    const shown = await ask<Shown>('GET', '/schedules/hourly');
    expect(shown.text).not.toContain('hunter2');
    const edited = { ...shown.body.document, count: 3 };
    expect((await ask('PUT', '/schedules/hourly', { body: edited })).status).toBe(200);
    expect(await client.get(id)).toMatchObject({ params, count: 3 });
  });
});

describe('changing schedules', () => {
  it('pauses and resumes', async () => {
    const { ask, client } = await withSchedule();
    const paused = await ask('POST', '/schedules/hourly/pause');
    expect(paused.body).toMatchObject({ id, changed: true, paused: true });
    expect(await client.get(id)).toMatchObject({ paused: true });
    expect((await ask('POST', '/schedules/hourly/pause')).body).toMatchObject({ changed: false });
    const resumed = await ask('POST', '/schedules/hourly/resume');
    expect(resumed.body).toMatchObject({ changed: true, paused: false });
    expect(await client.get(id)).not.toHaveProperty('paused');
  });

  it('runs a job now, which tells of the schedule', async () => {
    const { ask, engine, ended } = await withSchedule();
    await engine({ drainMs: 100 });
    const answer = await ask<{ id: string; existed: boolean }>('POST', '/schedules/hourly/run');
    expect([answer.status, answer.body.existed]).toEqual([201, false]);
    expect(answer.body.id.startsWith(slotJobPrefix(id))).toBe(true);
    expect(answer.headers.get('location')).toBe(`/_tws/jobs/${encodeURIComponent(answer.body.id)}`);
    const job = await ended(answer.body.id);
    expect(job).toMatchObject({ exit: 0, flow: 'tick', schedule: { id, name: 'hourly' } });
  });

  it('runs no job that sets what a task seals', async () => {
    const { ask, put } = await withSchedule();
    await put(
      { ...task('shut', { params: { a: 1 }, sealed: ['a'] }), _id: 'task:DEFAULT:shut' },
      { ...flow('closed', ['shut']), _id: 'flow:DEFAULT:closed' },
      {
        ...{ _id: 's', type: 'schedule', name: 's', flow: 'closed', every: 'P1D' },
        params: { shut: { a: 2 } },
      },
    );
    const run = await ask('POST', '/schedules/s/run');
    expect(run).toMatchObject({ status: 422, body: { error: 'document_invalid' } });
  });

  it('backfills a period, once, and calls a backfill off', async () => {
    const { ask, engine, until, store } = await withSchedule();
    const [from, end] = ['2026-03-01T00:00:00Z', '2026-03-01T04:00:00Z'];
    const wrong = await ask('POST', '/schedules/hourly/backfill', {
      body: { from: end, until: from },
    });
    expect(wrong).toMatchObject({ status: 422, body: { path: 'until' } });
    const none = await ask('POST', '/schedules/hourly/backfill', { body: { from } });
    expect(none).toMatchObject({ status: 400, body: { path: 'until' } });
    const backfill = { from, until: end, at_once: 2 };
    const asked = await ask('POST', '/schedules/hourly/backfill', { body: backfill });
    expect(asked).toMatchObject({ status: 202, body: { id, changed: true, backfill } });
    const off = await ask('DELETE', '/schedules/hourly/backfill');
    expect(off.body).toMatchObject({ changed: true });
    expect(off.body).not.toHaveProperty('backfill');
    const again = await ask('DELETE', '/schedules/hourly/backfill');
    expect(again.body).toMatchObject({ changed: false });
    await engine({ drainMs: 100 });
    await ask('POST', '/schedules/hourly/backfill', { body: backfill });
    const isDone = (doc: Readonly<Record<string, unknown>>): boolean =>
      progressOf(doc)?.recent.at(-1)?.kind === 'backfilled';
    const done = await until(id, isDone);
    expect(done['backfill']).toBeUndefined();
    expect(progressOf(done)?.recent.at(-1)).toMatchObject({ count: 4 });
    expect(await store.range(slotJobPrefix(id))).toHaveLength(4);
  });
});
