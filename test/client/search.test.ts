import { describe, expect, it } from 'vitest';
import { createClient, type JobSearch } from '../../src/client.js';
import { summaryOf } from '../../src/client-rules.js';
import type { StoredDocument } from '../../src/model/document.js';
import { openWorkspace } from '../support/workspace.js';

const hour = 3_600_000;

async function ready() {
  const workspace = await openWorkspace();
  const client = createClient({ store: workspace.store });
  const find = async (search: JobSearch, limit = 100, now = 10 * hour) => {
    const ids: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await client.search(search, { limit, cursor, now });
      ids.push(...page.jobs.map(({ _id }) => _id));
      ({ cursor } = page);
      pages += 1;
    } while (cursor !== undefined);
    return { ids, pages };
  };
  return { ...workspace, client, find };
}

const job = (id: string, more: object = {}) => ({ _id: id, type: 'job', flow: 'daily', ...more });
const final = (id: string, start: number, more: object = {}) =>
  job(id, { state: '$$complete', exit: 0, start, end: start + 500, steps: [], ...more });
const failed = (id: string, start: number, more: object = {}) =>
  final(id, start, { exit: 2, failure: { name: 'Refused', message: 'No.' }, ...more });

describe('search', () => {
  // Shows B-11, X-40.
  it('finds jobs by what they are, newest first', async () => {
    const { put, find } = await ready();
    await put(
      final('a', 1, { tags: ['red', 'big'] }),
      failed('b', 2, { owner: 'acme', tags: ['red'], keys: { order: 12 } }),
      final('c', 3, { flow: 'weekly', external_id: 'x-1', flow_version: '2' }),
      failed('d', 4, { flow: 'weekly', failure: { name: 'Timeout', message: 'Late.' } }),
      job('e', { flow_version: 2, parent: { job: 'd', step: '0' } }),
      job('f', { owner: 'acme', exec_after: 20 * hour }),
      job('g', { exec_after: 5 * hour }),
      { _id: 'no job', type: 'task', name: 't' },
    );
    const cases: readonly (readonly [JobSearch, readonly string[]])[] = [
      [{}, ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
      [{ flow: 'weekly' }, ['d', 'c']],
      [{ flow: 'weekly', version: '2' }, ['c']],
      [{ version: '2' }, ['e', 'c']],
      [{ version: '2', status: ['queued'] }, ['e']],
      [{ owners: ['acme'] }, ['f', 'b']],
      [{ owners: ['DEFAULT'] }, ['g', 'e', 'd', 'c', 'a']],
      [{ owners: ['acme', 'DEFAULT', 'acme'] }, ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
      [{ owners: [] }, []],
      [{ status: ['failed'] }, ['d', 'b']],
      [{ status: ['failed'], owners: ['acme'] }, ['b']],
      [{ status: ['failed', 'succeeded'] }, ['d', 'c', 'b', 'a']],
      [{ status: ['scheduled'] }, ['f']],
      [{ status: ['queued'] }, ['g', 'e']],
      [{ tags: ['red'] }, ['b', 'a']],
      [{ tags: ['red', 'big'] }, ['a']],
      [{ key: { name: 'order', value: '12' } }, ['b']],
      [{ key: { name: 'order', value: '13' } }, []],
      [{ key: { name: 'nix', value: 'undefined' }, flow: 'daily' }, []],
      [{ key: { name: '__proto__', value: '[object Object]' }, flow: 'daily' }, []],
      [{ failure: 'Timeout' }, ['d']],
      [{ failure: 'Timeout', flow: 'daily' }, []],
      [{ externalId: 'x-1' }, ['c']],
      [{ parent: 'd' }, ['e']],
      [{ from: 3 }, ['g', 'f', 'e', 'd', 'c']],
      [{ from: 2, to: 4 }, ['c', 'b']],
      [{ to: 2 }, ['a']],
      [{ from: 4, to: 4 }, []],
      [{ flow: 'weekly', from: 4, status: ['failed'] }, ['d']],
    ];
    for (const [search, ids] of cases) {
      expect([search, (await find(search)).ids]).toEqual([search, ids]);
      expect([search, (await find(search, 1)).ids]).toEqual([search, ids]);
    }
    expect(await find({}, 3)).toMatchObject({ pages: 3 });
  });

  it('goes on where a page ended, whatever happens meanwhile', async () => {
    const { put, client, store } = await ready();
    await put(...Array.from({ length: 6 }, (_, i) => final(`j${i}`, 5)));
    const first = await client.search({}, { limit: 2, now: 0 });
    expect(first.jobs.map(({ _id }) => _id)).toEqual(['j5', 'j4']);
    await store.remove('j4', first.jobs[1]?._rev ?? '');
    await put(final('k', 9));
    const next = await client.search({}, { limit: 2, now: 0, cursor: first.cursor });
    expect(next.jobs.map(({ _id }) => _id)).toEqual(['j3', 'j2']);
    for (const cursor of ['x', '', Buffer.from('{}').toString('base64url')]) {
      const refused = client.search({}, { limit: 2, now: 0, cursor });
      await expect(refused).rejects.toMatchObject({ code: 'cursor_invalid' });
    }
  });

  it('gives up a page that would take too long, and says where to go on', async () => {
    const { put, client } = await ready();
    await put(failed('rare', 1, { flow: 'weekly' }));
    for (let from = 0; from < 10_100; from += 500) {
      const length = Math.min(500, 10_100 - from);
      await put(...Array.from({ length }, (_, i) => failed(`j${from + i}`, 2 + from + i)));
    }
    const search = { status: ['failed'], flow: 'weekly' } as const;
    const first = await client.search(search, { limit: 5, now: 0 });
    expect(first).toEqual({ jobs: [], cursor: expect.any(String) as string });
    const next = await client.search(search, { limit: 5, now: 0, cursor: first.cursor });
    expect(next.jobs.map(({ _id }) => _id)).toEqual(['rare']);
    const began = performance.now();
    expect((await client.search({}, { limit: 50, now: 0 })).jobs).toHaveLength(50);
    console.log('first page of 10,101 jobs, ms:', Math.round(performance.now() - began));
  });
});

describe('figures', () => {
  it('count jobs by status, together and by owner', async () => {
    const { put, client } = await ready();
    await put(final('a', 1), failed('b', 2, { owner: 'acme' }), job('c'), job('d', { owner: 'x' }));
    expect(await client.count()).toMatchObject({ succeeded: 1, failed: 1, queued: 2, running: 0 });
    expect(await client.count(['acme', 'x'])).toMatchObject({ succeeded: 0, failed: 1, queued: 1 });
    expect(await client.count([])).toMatchObject({ succeeded: 0, failed: 0, queued: 0 });
  });

  it('tell what ended when, and how long it took', async () => {
    const { put, client } = await ready();
    await put(
      final('a', 0, { end: 1000 }),
      final('b', 0, { end: 3000 }),
      failed('c', hour, { end: hour + 70_000, owner: 'acme' }),
      final('d', hour, { end: 9 * hour }),
    );
    expect(await client.spans({ from: 0, to: 2 * hour, unit: 'hour' })).toEqual([
      { at: 0, succeeded: 2, failed: 0, cancelled: 0, ms: { mean: 2000, min: 1000, max: 3000 } },
      {
        at: hour,
        succeeded: 0,
        failed: 1,
        cancelled: 0,
        ms: { mean: 70_000, min: 70_000, max: 70_000 },
      },
      { at: 2 * hour, succeeded: 0, failed: 0, cancelled: 0 },
    ]);
    const minutes = await client.spans({ from: hour, to: hour + 60_000, unit: 'minute' });
    expect(minutes.map(({ failed: n }) => n)).toEqual([0, 1]);
    const [day] = await client.spans({ from: 0, to: 1, unit: 'day', owners: ['DEFAULT'] });
    expect(day).toMatchObject({ at: 0, succeeded: 3, failed: 0 });
  });
});

describe('a summary', () => {
  it.each([
    [1_800_000_000_000, 1_800_000_000_000],
    // Only a signal or an event wakes it.
    [4_320_000_000_000_000, undefined],
  ])('tells when something is due, unless that is never: %s', (written, told) => {
    const job = { _id: 'x', _rev: '1-x', type: 'job', next_due: written };
    expect(summaryOf(job, 0).next_due).toBe(told);
  });

  it('takes any document', () => {
    const odd = { _id: 'x', _rev: '1-x', type: 'job', flow: 7, tags: 'a', failure: [], steps: 1 };
    const doc = odd as unknown as StoredDocument;
    expect(summaryOf(doc, 0)).toEqual({
      id: 'x',
      rev: '1-x',
      owner: 'DEFAULT',
      status: 'queued',
      attempts: 0,
    });
  });
});
