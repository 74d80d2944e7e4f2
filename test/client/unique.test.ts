import { describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/client/client.js';
import { TwsError } from '../../src/errors.js';
import type { JobToSubmit } from '../../src/client/jobs.js';
import type { NewDocument } from '../../src/store/writer.js';
import type { Store } from '../../src/store/store.js';
import { flow, job, task } from '../support/documents.js';
import { openWorkspace, type Workspace } from '../support/workspace.js';

const order = (
  unique: Record<string, unknown>,
  more: Record<string, unknown> = {},
): JobToSubmit => ({
  ...job('f', { params: { a: { id: 1 } }, unique, ...more }),
  type: 'job',
});

const slow = `export default ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve));`;

async function opened(
  more: Record<string, unknown> = {},
): Promise<{ readonly space: Workspace; readonly client: Client }> {
  const space = await openWorkspace({ 'slow.mjs': slow, 'quick.mjs': 'export default () => 1;' });
  await space.put(
    task('slow'),
    task('quick'),
    flow('f', ['slow'], more),
    flow('q', ['quick'], more),
  );
  return { space, client: createClient({ store: space.store }) };
}

const codeOf = (error: unknown): unknown => (error instanceof TwsError ? error.code : error);
const locks = async ({ store }: Workspace) => store.view('locks', { includeDocs: true });

describe('a job with "unique"', () => {
  // Shows X-17.
  it('is refused at its submit while another one with the same key counts, or answered with that one', async () => {
    const { space, client } = await opened();
    const first = await client.submit(order({}));
    await expect(client.submit(order({}))).rejects.toMatchObject({
      ...{ code: 'not_unique', job: first.id, status: 409, exit: 1 },
    });
    const same = await client.submit(order({ on_conflict: 'existing' }));
    expect(same).toEqual({ id: first.id, rev: first.rev, existed: true, existing: true });
    const other = await client.submit(order({}, { params: { a: { id: 2 } } }));
    expect(other.existed).toBe(false);
    await space.store.remove(first.id, first.rev);
    // So soon it may be about to be stored, which a submit waits for.
    await agedLocks(space);
    const next = await client.submit(order({}));
    expect(next.existed).toBe(false);
  });

  it.each(['DEFAULT', 'acme'])('of %s takes the rule of its flow', async (owner) => {
    const { client } = await opened({ owner: 'DEFAULT', unique: { key: '1' } });
    const plain: JobToSubmit = { ...job('f', { owner }), type: 'job' };
    const first = await client.submit(plain);
    await expect(client.submit(plain)).rejects.toMatchObject({ code: 'not_unique', job: first.id });
  });

  it('U17: is stored once, however many submit it at the same time', async () => {
    const { space, client } = await opened();
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => client.submit(order({}))),
    );
    const stored = answers.filter(({ status }) => status === 'fulfilled');
    expect(stored).toHaveLength(1);
    const refused = answers.flatMap((one) =>
      one.status === 'rejected' ? [codeOf(one.reason)] : [],
    );
    expect(new Set(refused)).toEqual(new Set(['not_unique']));
    expect(await space.store.view('jobs')).toHaveLength(1);
    const many = await client.submitMany(
      ['existing', 'existing', 'reject'].map((on_conflict) => order({ on_conflict })),
    );
    expect(many.map(({ kind }) => kind)).toEqual(['submitted', 'submitted', 'refused']);
  });

  it('compares what its key says: an expression, paths of parameters, a name over flows', async () => {
    const { client } = await opened();
    const submit = (unique: Record<string, unknown>, params: unknown, flowName = 'f') =>
      client
        .submit(order(unique, { flow: flowName, params }))
        .then(({ existed }) => existed, codeOf);
    const expression = { key: 'params.a.id & "-" & job.owner', name: 'x' };
    expect(await submit(expression, { a: { id: 1, at: 1 } })).toBe(false);
    expect(await submit(expression, { a: { id: 1, at: 2 } }, 'q')).toBe('not_unique');
    expect(await submit({ key: ['a.id'] }, { a: { id: 1, at: 1 } })).toBe(false);
    expect(await submit({ key: ['a.id'] }, { a: { id: 1, at: 2 } })).toBe('not_unique');
    expect(await submit({ key: ['a.id'] }, { a: { id: 1, at: 2 } }, 'q')).toBe(false);
    expect(await submit({ key: 'params.b' }, {})).toBe('unique_key');
    expect(await submit({ key: '$number("x")' }, {})).toBe('unique_key');
  });

  it('U17: leaves nothing behind when the submit dies at any of its writes', async () => {
    const { space, client } = await opened();
    for (const dies of [0, 1, 2]) {
      const params = { a: { id: `dies ${dies}` } };
      const dying = createClient({ store: dyingAt(space.store, dies) });
      await expect(dying.submit(order({}, { params }))).rejects.toThrow(/died|stored/);
      if (dies < 2) await agedLocks(space);
      const next = await client
        .submit(order({}, { params }))
        .then(({ existed }) => existed, codeOf);
      expect(next).toBe(dies < 2 ? false : 'not_unique');
    }
  });

  it('gives its key back when it is refused, and tells why even where that fails', async () => {
    const { space, client } = await opened();
    const { store } = space;
    await space.put({ _id: 'taken', type: 'note' });
    // The note comes between the first look and the write.
    let looks = 0;
    const late: Store = {
      ...store,
      get: async (id) => (id === 'taken' && (looks += 1) === 1 ? undefined : store.get(id)),
    };
    const refusing: Store = {
      ...store,
      write: async (doc) =>
        doc['type'] === 'job' ? { kind: 'refused', reason: 'no' } : store.write(doc),
    };
    const cases = [
      ['_bad', 'id_unfit', store],
      ['taken', 'id_taken', late],
      ['new', 'document_refused', refusing],
    ] as const;
    for (const [_id, code, on] of cases) {
      const submitted = createClient({ store: on }).submit(order({}, { _id }));
      await expect(submitted).rejects.toMatchObject({ code });
      expect(await locks(space)).toEqual([]);
    }
    const away = { ...refusing, remove: () => Promise.reject(new Error('away')) };
    const submitted = createClient({ store: away }).submit(order({}));
    await expect(submitted).rejects.toMatchObject({ code: 'document_refused' });
    await agedLocks(space);
    expect((await client.submit(order({}))).existed).toBe(false);
  });

  it('keeps its key when another submit of its id is refused that had the key, too', async () => {
    const { space, client } = await opened();
    const { store } = space;
    const [locked, stored] = [gate(), gate()];
    const submit = (write: Store['write'], more: object) =>
      createClient({ store: { ...store, write } }).submit(order({}, { _id: 'same', ...more }));
    const second = async () =>
      submit(
        async (doc) => {
          if (doc['type'] !== 'job') return store.write(doc);
          locked.open();
          await stored.opened;
          return store.write(doc);
        },
        { priority: 7 },
      ).catch(codeOf);
    let other: Promise<unknown> | undefined;
    await submit(async (doc) => {
      if (doc['type'] !== 'job') return store.write(doc);
      other = second();
      await locked.opened;
      return store.write(doc);
    }, {});
    stored.open();
    expect(await other).toBe('id_taken');
    await expect(client.submit(order({}))).rejects.toMatchObject({ code: 'not_unique' });
  });

  it('waits for one that is about to be stored no longer than its caller does', async () => {
    const { space, client } = await opened();
    const dying = createClient({ store: dyingAt(space.store, 1) });
    await expect(dying.submit(order({}))).rejects.toThrow('died');
    const submitted = client.submit(order({}), { signal: AbortSignal.abort() });
    await expect(submitted).rejects.toMatchObject({ code: 'not_unique' });
  });

  it('of many is stored with one question about the database', async () => {
    const { space } = await opened();
    let asked = 0;
    const info: Store['info'] = async () => {
      asked += 1;
      return space.store.info();
    };
    const jobs = [1, 2, 3].map((id) => order({}, { params: { id } }));
    const many = await createClient({ store: { ...space.store, info } }).submitMany(jobs);
    expect(many.map(({ kind }) => kind)).toEqual(jobs.map(() => 'submitted'));
    expect(asked).toBe(1);
  });

  it('ends with exit 5 when it was PUT beside another one, and gives the key back at its end', async () => {
    const { space, client } = await opened({ unique: {} });
    await space.put(job('f', { _id: 'one' }), job('f', { _id: 'two' }));
    await Promise.all([space.engine(), space.engine()]);
    const refused = await Promise.race([space.ended('one'), space.ended('two')]);
    const other = refused._id === 'one' ? 'two' : 'one';
    expect(refused).toMatchObject({ exit: 5, failure: { name: 'NotUnique' } });
    expect(refused.failure?.message).toContain(`Job ${other} has the same "unique" key`);
    await expect(client.submit(job('f') as unknown as JobToSubmit)).rejects.toMatchObject({
      job: other,
    });
    await client.request(other, 'cancel');
    await space.ended(other);
    await expect.poll(() => locks(space)).toEqual([]);
    // A retry takes the key again.
    await client.request(refused._id, 'retry');
    await space.until(
      refused._id,
      ({ state }) => typeof state === 'string' && !state.startsWith('$$'),
    );
    expect((await locks(space))[0]?.doc).toMatchObject({ job: refused._id, kind: 'unique' });
    await client.request(other, 'retry');
    await space.until(other, ({ failure }) => (failure as { name?: string })?.name === 'NotUnique');
    await client.request(refused._id, 'cancel');
  });

  it('U19, U20: replaces the other one: cancels it once, and begins when it has ended', async () => {
    const { space, client } = await opened();
    await space.engine();
    await space.engine();
    const unique = { on_conflict: 'replace' };
    const ids: string[] = [];
    for (const _id of ['r1', 'r2', 'r3']) {
      const { replaces } = await client.submit(order(unique, { _id }));
      if (_id === 'r1')
        await space.until('r1', ({ steps }) => Array.isArray(steps) && steps.length > 0);
      else expect(ids).toContain(replaces);
      ids.push(_id);
    }
    const [first, second] = [await space.ended('r1'), await space.ended('r2')];
    expect([first.exit, second.exit]).toEqual([130, 130]);
    const asked = (first['requests'] as readonly Record<string, unknown>[]).filter(
      ({ action }) => action === 'cancel',
    );
    expect(asked).toHaveLength(1);
    expect(first.failure?.message).toContain('takes its place');
    const third = await space.until('r3', ({ steps }) => Array.isArray(steps) && steps.length > 0);
    expect(Number(third['start'])).toBeGreaterThanOrEqual(Number(first['end']));
    await client.request('r3', 'cancel');
    await space.ended('r3');
    await expect.poll(() => locks(space)).toEqual([]);
  });

  it('U18: counts for its period also after its end; the sweep removes the lock when that is over', async () => {
    const { space, client } = await opened();
    await space.engine({ sweepMs: 50 });
    const daily = { period: 'P1D', states: ['succeeded', 'running', 'queued'] };
    const { id } = await client.submit(order(daily, { flow: 'q' }));
    expect((await space.ended(id)).exit).toBe(0);
    const again = () => client.submit(order(daily, { flow: 'q' }));
    await expect(again()).rejects.toMatchObject({ code: 'not_unique', job: id });
    const [row] = await locks(space);
    expect(row?.doc).toMatchObject({ job: id, states: daily.states });
    const until = Number(row?.doc?.['until']);
    expect((await client.explain(id)).reasons.at(-1)).toEqual({
      ...{ kind: 'unique_period', until },
      because: `No other job can have its "unique" key before ${new Date(until).toISOString()}.`,
    });
    await agedLocks(space, 86_400_000);
    await expect.poll(() => locks(space)).toEqual([]);
    const later = (await client.explain(id)).reasons.map(({ kind }) => kind);
    expect(later).not.toContain('unique_period');
    expect((await again()).existed).toBe(false);
  });

  it('gives its key back when it is removed, also one that counts as long as it is there', async () => {
    const { space, client } = await opened();
    await space.engine();
    const once = order({ states: ['succeeded'] }, { flow: 'q' });
    const { id } = await client.submit(once);
    await space.ended(id);
    await expect(client.submit(once)).rejects.toMatchObject({ code: 'not_unique' });
    await client.removeJob(id);
    expect(await locks(space)).toEqual([]);
  });
});

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** The store whose process dies after so many of its writes. */
function dyingAt(store: Store, writes: number): Store {
  let left = writes;
  return {
    ...store,
    write: async (doc: NewDocument) => {
      if (left === 0) throw new Error('died');
      left -= 1;
      const result = await store.write(doc);
      if (left === 0 && writes === 2) throw new Error('stored, and died');
      return result;
    },
  };
}

/** Makes all locks older. */
async function agedLocks(space: Workspace, ms = 20_000): Promise<void> {
  for (const { doc } of await locks(space)) {
    if (doc === undefined) continue;
    const until = typeof doc['until'] === 'number' ? { until: doc['until'] - ms } : {};
    await space.store.write({ ...doc, at: Number(doc['at']) - ms, ...until });
  }
}
