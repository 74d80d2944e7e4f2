import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createClient, type RetainOptions } from '../../src/client.js';
import { uniqueOrder } from '../../src/client/unique.js';
import { uniqueUntil } from '../../src/model/lock.js';
import { slotJobId } from '../../src/model/schedule.js';
import { openStore } from '../../src/store/store.js';
import { couchUrl, request } from '../support/couch.js';
import { openWorkspace } from '../support/workspace.js';

const now = Date.UTC(2026, 0, 31);
const day = 86_400_000;

/** A job that ended so many days before now. */
const ended = (_id: string, days: number, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'f', owner: 'DEFAULT', state: '$$complete', exit: 0, steps: [] },
  ...{ start: now - days * day - 1_000, end: now - days * day },
  ...more,
});
const failed = { exit: 2, failure: { name: 'Failed', message: 'no' }, flow: 'g' };
const child = (job: string) => ({ parent: { job, step: 's' } });
const notification = (job: string) => ({
  ...{ flow: 'tell' },
  notifies: { job, run: 1, status: 'succeeded', depth: 1 },
});
const f = {
  _id: 'flow:DEFAULT:f',
  type: 'flow',
  name: 'f',
  owner: 'DEFAULT',
  tasks: [{ task: 'a' }],
};
const usual = { succeeded: { age: 'P30D' } };

async function ready() {
  const workspace = await openWorkspace();
  const { store } = workspace;
  const client = createClient({ store });
  const left = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const { id } of store.rows('jobs', { reduce: false })) ids.push(id);
    return ids.sort();
  };
  const retain = (more: RetainOptions = {}) => client.retain({ now, usual, ...more });
  return { ...workspace, client, left, retain };
}

describe('retain', () => {
  it('removes nothing and looks at no job when nothing says so', async () => {
    const { put, left, client } = await ready();
    await put(f, ended('a', 900));
    const result = await client.retain({ now });
    expect(result).toEqual({
      ...{ configured: false, rows: [], documents: 0, kept: [], problems: [], broken: false },
      ...{ archived: 0, failures: [] },
    });
    expect(await left()).toEqual(['a']);
  });

  // Shows X-37.
  it('removes what is older than the age, by its end', async () => {
    const { put, left, retain } = await ready();
    await put(
      ended('old', 31),
      ended('long', 29, { start: now - 40 * day }),
      ended('new', 1),
      ended('failed', 99, failed),
      { _id: 'queued', type: 'job', flow: 'f', exec_after: now * 2 },
    );
    const result = await retain();
    expect(result.rows).toEqual([
      { flow: 'f', owner: 'DEFAULT', status: 'succeeded', removed: 1, kept: 0 },
    ]);
    expect(await left()).toEqual(['failed', 'long', 'new', 'queued']);
    expect((await retain()).rows).toEqual([]);
  });

  // Shows X-37.
  it('keeps the newest of a count by their end, of each flow, owner and status', async () => {
    const { put, left, retain } = await ready();
    const retainOf = { succeeded: { count: 2 }, failed: { count: 1, age: 'P5D' } };
    await put({ ...f, retain: retainOf });
    await put(
      ...[1, 2, 3, 4].map((days) => ended(`s${days}`, days)),
      ended('long', 0, { start: now - 90 * day }),
      ended('mine', 9, { owner: 'me' }),
      ended('bad', 6, { ...failed, flow: 'f' }),
      ended('other', 29, { flow: 'h' }),
    );
    await retain();
    expect(await left()).toEqual(['long', 'mine', 'other', 's1']);
  });

  it('follows the rule of the flow, not the default, also where that keeps all', async () => {
    const { put, left, retain } = await ready();
    await put({ ...f, retain: {} });
    await put(ended('a', 90), ended('b', 90, { flow: 'unknown' }));
    await retain();
    expect(await left()).toEqual(['a']);
  });

  it('removes nothing for a rule that cannot be read, and tells of it', async () => {
    const { put, left, retain } = await ready();
    await put({ ...f, retain: { succeeded: { days: 3 } } });
    await put(ended('a', 90));
    const { problems } = await retain();
    expect(problems).toEqual([
      {
        flow: 'f::DEFAULT',
        message: 'retain.succeeded.days must be left out: there can be only age, count.',
      },
    ]);
    expect(await left()).toEqual(['a']);
  });
});

describe('what goes with a job', () => {
  const family = () => [
    ended('a', 31, { notifications: [{ id: 'n', run: 1, at: 1 }] }),
    ended('b', 31, child('a')),
    ended('c', 31, { ...child('b'), exit: 1 }),
    ended('n', 1, notification('a')),
    { _id: 'lock:1', type: 'lock', kind: 'target', key: 't', job: 'b', at: 1, nonce: 'x' },
    { _id: 'lock:2', type: 'lock', kind: 'target', key: 't', job: 'other', at: 1, nonce: 'x' },
    { _id: 'q', type: 'request', job: 'a', action: 'note', text: 'x', refused: 'too late' },
    { _id: 's', type: 'signal', job: 'c', name: 'go' },
    { _id: 'e', type: 'event', name: 'go', refused: 'no' },
  ];

  it('are its child jobs, notifications, locks, requests, signals and attachments', async () => {
    const { put, left, retain, store } = await ready();
    const attachment = {
      content_type: 'text/plain',
      data: Buffer.from('large').toString('base64'),
    };
    await put(...family());
    const { _rev } = (await store.get('c')) ?? { _rev: '' };
    await put({ ...ended('c', 31, child('b')), _rev, _attachments: { r: attachment } });
    expect(await store.attachment('c', 'r')).toBe('large');
    const { documents, rows } = await retain();
    expect(documents).toBe(7);
    expect(rows).toMatchObject([{ flow: 'f', removed: 1 }]);
    expect(await left()).toEqual([]);
    expect(await store.attachment('c', 'r')).toBeUndefined();
    const others = await store.getMany(['lock:1', 'lock:2', 'q', 's', 'e']);
    expect([...others.keys()].sort()).toEqual(['e', 'lock:2']);
  });

  it.each([
    ['a child job has not ended', { ...child('b'), state: '$$paused' }, 'c', 'unfinished'],
    ['a child job is to be retried', { ...child('b'), retry: true }, 'c', 'retry'],
  ])('stays as long as %s', async (_title, more, job, because) => {
    const { put, left, retain } = await ready();
    await put(...family().map((doc) => (doc._id === 'c' ? { ...doc, ...more } : doc)));
    const { kept, rows } = await retain();
    expect(kept).toEqual([{ id: 'a', because, job }]);
    expect(rows).toMatchObject([{ flow: 'f', removed: 0, kept: 1 }]);
    expect(await left()).toEqual(['a', 'b', 'c', 'n']);
  });

  it('stays as long as a retry is asked for that no engine has taken', async () => {
    const { put, left, retain } = await ready();
    await put(ended('a', 90), { _id: 'q', type: 'request', job: 'a', action: 'retry' });
    expect((await retain()).kept).toEqual([{ id: 'a', because: 'retry', job: 'a' }]);
    expect(await left()).toEqual(['a']);
  });

  it('U12: stays as long as its schedule names its slot as starting', async () => {
    const { put, left, retain, store } = await ready();
    const slot = Date.UTC(2025, 0, 1);
    const progress = {
      edition: 1,
      timing: '',
      handled: slot,
      started: 1,
      skipped: 0,
      missed: 0,
      recent: [],
    };
    const id = slotJobId('schedule:s', slot);
    const schedule = { id: 'schedule:s', name: 's', slot, time: '2025-01-01T00:00:00Z' };
    const doc = { _id: 'schedule:s', type: 'schedule', name: 's', flow: 'f', every: 'PT1H' };
    await put({ ...doc, progress: { ...progress, starting: [slot] } }, ended(id, 90, { schedule }));
    expect((await retain()).kept).toEqual([{ id, because: 'starting', job: id }]);
    expect(await left()).toEqual([id]);
    const { _rev } = (await store.get('schedule:s')) ?? { _rev: '' };
    await put({ ...doc, _rev, progress });
    await retain();
    expect(await left()).toEqual([]);
  });

  it('U12: stays as long as the event that started it names it as starting', async () => {
    const { put, left, retain, store } = await ready();
    const event = { _id: 'event:paid:1', type: 'event', event: 'paid', key: '1' };
    const one = { flow: 'f', owner: 'DEFAULT', entry: 0 };
    const starting = ['made', 'unmade'].map((job) => ({ job, ...one }));
    const by = { started_by: { event: event._id, entry: 0 } };
    await put({ ...event, triggered: { at: now, starting } }, ended('made', 90, by));
    expect((await retain()).kept).toEqual([{ id: 'made', because: 'starting', job: 'made' }]);
    expect(await left()).toEqual(['made']);
    const { _rev } = (await store.get(event._id)) ?? { _rev: '' };
    await put({ ...event, _rev, triggered: { at: now, started: ['made', 'unmade'] } });
    await retain();
    expect(await left()).toEqual([]);
  });

  it('U12: stays as long as gathered events name it as starting', async () => {
    const { put, left, retain, store } = await ready();
    const _id = 'gathering:f:DEFAULT:x';
    const rule = { flow: 'f', owner: 'DEFAULT', entry: 0, by: 'batch', period: 1_000, size: 3 };
    const gathering = { _id, type: 'gathering', ...rule, events: [] };
    const starting = { job: 'made', at: now, events: [{ id: 'event:paid:1', at: now }] };
    const by = { started_by: { gathering: _id, entry: 0, events: ['event:paid:1'] } };
    await put({ ...gathering, starting }, ended('made', 90, by));
    expect((await retain()).kept).toEqual([{ id: 'made', because: 'starting', job: 'made' }]);
    const { _rev } = (await store.get(_id)) ?? { _rev: '' };
    await put({ ...gathering, _rev });
    await retain();
    expect(await left()).toEqual([]);
  });

  const lockOf = (job: string, more: object = {}) => ({
    ...{ _id: 'lock:u', type: 'lock', kind: 'unique', key: 'f', job, at: now, nonce: 'x' },
    ...more,
  });

  it.each<[string, object, object]>([
    ['its period is not over', { until: now + day }, {}],
    ['a job that it replaced has not ended', { after: ['other'] }, {}],
    ['its period is not over, though it never began', { until: now + day }, { locked: undefined }],
  ])('stays with its "unique" key as long as %s', async (_title, lock, more) => {
    const { put, left, retain, store } = await ready();
    const { lock: _id } = await uniqueOrder({ _id: 'a', flow: 'f', owner: 'DEFAULT' }, {});
    const a = ended('a', 31, { unique: {}, locked: { unique: _id }, ...more });
    const other = { ...ended('other', 31), state: '$$paused' };
    await put(a, other, lockOf('a', { _id, ...lock }));
    expect((await retain()).kept).toEqual([{ id: 'a', because: 'unique', job: 'a' }]);
    expect(await left()).toEqual(['a', 'other']);
    const { _rev } = (await store.get('other')) ?? { _rev: '' };
    await put({ ...other, _rev, state: '$$complete' });
    await retain({ now: now + 2 * day });
    expect(await left()).toEqual([]);
    expect(await store.get(_id)).toBeUndefined();
  });

  it('takes the lock of its key along where that has no end, and leaves that of another job', async () => {
    const { put, left, retain, store } = await ready();
    const locked = { locked: { unique: 'lock:u' } };
    await put(ended('a', 31, locked), ended('b', 31, locked));
    await put(lockOf('b', { states: ['succeeded'] }));
    // The sweep of engines does not read it.
    const due = { endKey: ['unique', uniqueUntil(Date.now())] };
    expect(await store.view('locks', due)).toEqual([]);
    expect((await retain()).documents).toBe(3);
    await put(ended('a', 31, locked), lockOf('other'));
    expect((await retain()).documents).toBe(1);
    expect([await left(), (await store.get('lock:u'))?.['job']]).toEqual([[], 'other']);
  });

  it('is only what says so itself: a list of ids that anybody can write is not believed', async () => {
    const { put, left, retain } = await ready();
    await put(ended('a', 90, { notifications: [{ id: 'x', run: 1, at: 1 }] }), ended('x', 1));
    await retain();
    expect(await left()).toEqual(['x']);
  });

  it('goes by its own rule when the job that it was made for is gone', async () => {
    const { put, left, retain } = await ready();
    await put(ended('b', 90, child('gone')), ended('c', 90, child('there')), ended('there', 1));
    await retain();
    expect(await left()).toEqual(['c', 'there']);
  });
});

describe('a pass', () => {
  it('with dryRun says the same and removes nothing', async () => {
    const { put, left, retain } = await ready();
    await put(ended('a', 90), ended('b', 90, child('a')), ended('c', 90));
    const before = await left();
    const dry = await retain({ dryRun: true });
    expect(dry).toMatchObject({ documents: 3, rows: [{ removed: 2 }] });
    expect(await left()).toEqual(before);
    expect(await retain()).toEqual(dry);
  });

  it('that is broken off leaves whole families, and the next one goes on', async () => {
    const { put, left, retain } = await ready();
    const ids = Array.from({ length: 250 }, (_, i) => `j${i}`);
    await put(
      ...ids.map((id) => ended(id, 90)),
      ...ids.map((id) => ended(`c-${id}`, 90, child(id))),
    );
    const stop = new AbortController();
    const first = await retain({
      signal: stop.signal,
      onProgress: ({ removed }) => removed > 0 && stop.abort(),
    });
    expect(first.broken).toBe(true);
    const some = await left();
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(500);
    const whole = some.filter((id) => id.startsWith('j')).flatMap((id) => [id, `c-${id}`]);
    expect(some).toEqual(whole.sort());
    expect((await retain()).broken).toBe(false);
    expect(await left()).toEqual([]);
  });

  it('that fails between a child and its parent leaves the parent, which the next one removes', async () => {
    const { put, left, retain, store } = await ready();
    await put(ended('a', 90), ended('b', 90, child('a')));
    const failing = {
      ...store,
      remove: (id: string, rev: string) =>
        id === 'a'
          ? Promise.resolve({ kind: 'unknown' as const, cause: 'no answer' })
          : store.remove(id, rev),
    };
    const broken = createClient({ store: failing }).retain({ now, usual });
    await expect(broken).rejects.toMatchObject({ code: 'write_unknown' });
    expect(await left()).toEqual(['a']);
    await retain();
    expect(await left()).toEqual([]);
  });

  it('U11: keeps a job that was changed meanwhile, with its family', async () => {
    const { put, left, store } = await ready();
    await put(ended('a', 90), ended('b', 90, child('a')));
    const slow = {
      ...store,
      get: async (id: string) => {
        const doc = await store.get(id);
        if (id === 'a' && doc?.['note'] === undefined) await put({ ...doc, note: 1 });
        return store.get(id);
      },
    };
    const { kept } = await createClient({ store: slow }).retain({ now, usual });
    expect(kept).toEqual([{ id: 'a', because: 'conflict', job: 'a' }]);
    expect(await left()).toEqual(['a', 'b']);
  });

  it('U11: leaves the lock of a job that was taken up again meanwhile', async () => {
    const { put, left, store } = await ready();
    const lock = { _id: 'lock:1', type: 'lock', kind: 'target', key: 't', job: 'b', at: 1 };
    await put(ended('a', 90), ended('b', 90, child('a')), { ...lock, nonce: 'x' });
    const slow = {
      ...store,
      getMany: async (ids: readonly string[]) => {
        const docs = await store.getMany(ids);
        if (!ids.includes('lock:1')) return docs;
        await put({ ...(await store.get('b')), retry: true });
        await put({ ...docs.get('lock:1'), nonce: 'y' });
        return store.getMany(ids);
      },
    };
    const { kept } = await createClient({ store: slow }).retain({ now, usual });
    expect(kept).toEqual([{ id: 'a', because: 'conflict', job: 'a' }]);
    expect([await left(), (await store.get('lock:1'))?.['nonce']]).toEqual([['a', 'b'], 'y']);
  });
});

describe('passes of several processes', () => {
  it('have the server give back space when much was removed', async () => {
    const { put, store } = await ready();
    const ids = Array.from({ length: 1_000 }, (_, i) => `j${i}`);
    await put(...ids.map((id) => ended(id, 90)));
    const options = { now, usual, everyMs: 1, by: 'engine:a', atOnce: true };
    await createClient({ store }).retention(options);
    expect(await store.get('retention')).toMatchObject({ last: { compacted: true } });
  });

  it('U40: purge what they removed a day later, so that nothing of it is left', async () => {
    const { put, store, left } = await ready();
    await put(ended('a', 90), { ...ended('b', 90), ...child('a') }, ended('c', 1));
    const options = { usual, everyMs: 1, by: 'engine:a', atOnce: true };
    const tombstones = async (): Promise<unknown> =>
      (await request('GET', `/${store.connection.database}`)).body['doc_del_count'];
    const before = Number(await tombstones());
    const client = createClient({ store });
    expect(await client.retention({ ...options, now })).toMatchObject({ purged: 0 });
    expect(await tombstones()).toBe(before + 2);
    expect(await client.retention({ ...options, now: now + day })).toMatchObject({ purged: 2 });
    // That of the document that named them.
    expect(await tombstones()).toBe(before + 1);
    expect(await left()).toEqual(['c']);
    expect(await store.get('retention')).toMatchObject({ last: { purged: 2 } });

    // Also where "retain" was taken away since.
    const { usual: _taken, ...rest } = options;
    expect(await client.readRetention()).toMatchObject({ configured: false, toPurge: true });
    expect(await client.retention({ ...rest, now: now + 2 * day })).toMatchObject({ purged: 1 });
    expect(await client.readRetention()).toMatchObject({ configured: false, toPurge: false });
  });

  // Shows X-14.
  it('remove events whose life has ended, whatever the rules, but none that a job is about to start for', async () => {
    const { put, store } = await ready();
    const event = (key: string, triggered: object) => ({
      ...{ _id: `event:paid:${key}`, type: 'event', event: 'paid', key, triggered },
    });
    const starting = [{ job: 'j', flow: 'f', owner: 'me', entry: 0 }];
    await put(
      event('over', { at: 1, until: now }),
      event('lives', { at: 1, until: now + 1 }),
      event('fact', { at: 1 }),
      event('starts', { at: 1, until: now, starting }),
    );
    const client = createClient({ store });
    expect(await client.readRetention()).toMatchObject({ configured: false, expired: 2 });
    const pass = await client.retention({ now, everyMs: 1, by: 'engine:a', atOnce: true });
    expect(pass).toMatchObject({ kind: 'done', expired: 1 });
    const left = await Promise.all(
      ['over', 'lives', 'fact', 'starts'].map((key) => store.get(`event:paid:${key}`)),
    );
    expect(left.map((doc) => doc?.['key'])).toEqual([undefined, 'lives', 'fact', 'starts']);

    // One that has expired can be announced anew, one that lives cannot.
    const lives = { event: 'paid', key: 'fact', ttl: 'PT1H' };
    await expect(client.announce(lives)).rejects.toMatchObject({ code: 'event_announced' });
    expect(await client.announce({ ...lives, id: 'second' })).toBe('event:paid:fact#second');
    expect(await client.announce({ ...lives, key: 'lives', data: 2 })).toBe('event:paid:lives');
    expect(await store.get('event:paid:lives')).toMatchObject({ data: 2, ttl: 'PT1H' });
  });

  it('keep what they did when tombstones cannot be purged, and say why', async () => {
    const { put, store } = await ready();
    await put(ended('a', 90));
    const purge = () => Promise.reject(new Error('it is away'));
    const options = { now, usual, everyMs: 1, by: 'engine:a', atOnce: true, purgeAfterMs: 0 };
    const pass = await createClient({ store: { ...store, purge } }).retention(options);
    expect(pass).toMatchObject({ kind: 'done', unpurged: 'it is away' });
    const again = await createClient({ store }).retention(options);
    expect(again).toMatchObject({ kind: 'done', purged: 1 });
  });

  it('keep what they did when the database cannot be compacted, and say why', async () => {
    const { put, store } = await ready();
    await put(ended('a', 90));
    const info = () => Promise.reject(new Error('it is away'));
    const options = { now, usual, everyMs: 1, by: 'engine:a', atOnce: true };
    const pass = await createClient({ store: { ...store, info } }).retention(options);
    expect(pass).toMatchObject({
      ...{ kind: 'done', unpurged: 'it is away', uncompacted: 'it is away' },
    });
    expect(await store.get('retention')).toMatchObject({
      last: { removed: { succeeded: 1 }, compacted: false },
    });
  });

  const everyMs = 3_600_000;

  it('U9: are made by one of them', async () => {
    const { put, store, client } = await ready();
    await put(...[1, 2, 3].map((i) => ended(`j${i}`, 90)));
    const stores = Array.from({ length: 4 }, () =>
      openStore({ ...store.connection, url: couchUrl() }),
    );
    const passes = await Promise.all(
      stores.map((one, i) =>
        createClient({ store: one }).retention({ now, usual, everyMs, by: `engine:${i}` }),
      ),
    );
    await Promise.all(stores.map(({ close }) => close()));
    const done = passes.filter(({ kind }) => kind === 'done');
    expect(done).toHaveLength(1);
    const doc = await store.get('retention');
    expect(doc).toMatchObject({
      ...{ type: 'retention', next: now + everyMs },
      last: { at: now, removed: { succeeded: 3, failed: 0, cancelled: 0 }, kept: 0 },
    });
    expect(doc?.['running']).toBeUndefined();
    const early = await client.retention({ now: now + 1, usual, everyMs, by: 'x' });
    expect(early).toEqual({ kind: 'early', next: now + everyMs });
    const atOnce = { now: now + 1, usual, everyMs, by: 'x', atOnce: true };
    expect(await client.retention(atOnce)).toMatchObject({ kind: 'done' });
  });

  it('U10: begin when a claim that nobody renews is over, and not before', async () => {
    const { put, client } = await ready();
    const running = { by: 'engine:dead', since: now, until: now + 1_000 };
    await put({ _id: 'retention', type: 'retention', next: now, running });
    const options = { usual, everyMs, by: 'x', atOnce: true };
    expect(await client.retention({ ...options, now })).toEqual({
      ...{ kind: 'busy', by: 'engine:dead', since: now, next: now + 1_000 },
    });
    expect(await client.retention({ ...options, now: now + 1_000 })).toMatchObject({
      kind: 'done',
    });
  });

  it.each([
    ['busy', 'lives', () => process.ppid],
    ['done', 'died', () => spawnSync(process.execPath, ['-e', '']).pid],
  ])('U10: are %s where the process of the claim on this machine %s', async (kind, _how, pid) => {
    const { put, client } = await ready();
    const claim = { by: 'tws retain', since: now, until: now + 300_000, host: hostname() };
    const running = { ...claim, pid: pid() };
    await put({ _id: 'retention', type: 'retention', next: now, running });
    const options = { usual, everyMs: 1, by: 'x', atOnce: true, now };
    expect(await client.retention(options)).toMatchObject({ kind });
  });
});
