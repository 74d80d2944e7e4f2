import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { openStore } from '../../src/store/store.js';
import { startProxy } from '../store/tcp-proxy.js';
import { couchUrl } from '../support/couch.js';
import { openWorkspace } from '../support/workspace.js';
import { flow, task } from '../cli/terminal.js';

async function ready() {
  const workspace = await openWorkspace();
  return { ...workspace, client: createClient({ store: workspace.store }) };
}

describe('submit', () => {
  it.each([
    ['two dots', '..'],
    ['an underscore first', '_x'],
    ['an escape sequence', 'a\u001b[2J'],
    ['an override of direction', 'a\u202eb'],
  ])('takes no job with an id of %s', async (_what, _id) => {
    const { client, store } = await ready();
    const submitted = client.submit({ _id, type: 'job', flow: 'f' });
    await expect(submitted).rejects.toMatchObject({ code: 'id_unfit' });
    const [one] = await client.submitMany([{ _id, type: 'job', flow: 'f' }]);
    expect(one).toMatchObject({ kind: 'refused', problem: { code: 'id_unfit' } });
    const signal = client.signal({ job: _id, name: 'go', start: { flow: 'f' } });
    await expect(signal).rejects.toMatchObject({ code: 'id_unfit' });
    expect(await store.view('awake')).toEqual([]);
  });
});

describe('write', () => {
  it('changes a document that has an unfit id already', async () => {
    const { client, put, store } = await ready();
    const _id = 'a\u001b[2J';
    await put({ ...task('a'), _id });
    const doc = { ...(await store.get(_id)), ...task('a'), _id, timeout: 7 };
    await client.write(doc);
    expect(await store.get(_id)).toMatchObject({ timeout: 7 });
  });
});

describe('a version of a flow that is made current', () => {
  const named = { name: 'f', owner: 'DEFAULT' };
  const version = (which: string, more: object = {}) => ({
    ...{ ...flow('f', ['a']), _id: `f-${which}`, version: which },
    ...more,
  });

  it.each<[what: string, other: 'use 3' | 'change 1', problem: string | undefined, is: string]>([
    ['counts as it is, although the one before was changed meanwhile', 'change 1', undefined, '2'],
    ['is told of another that somebody made current', 'use 3', 'document_conflict', '3'],
  ])('%s', async (_what, other, code, is) => {
    const { client, put, store } = await ready();
    await put(version('1', { current: true, current_since: 1 }), version('2'), version('3'));
    const between = async (): Promise<unknown> => {
      if (other === 'use 3') return client.useFlowVersion(named, '3');
      return store.write({
        ...version('1', { current: true, current_since: 1 }),
        timeout: 7,
        _rev: String((await store.get('f-1'))?._rev),
      });
    };
    const meddled: typeof store = {
      ...store,
      write: async (doc) => {
        if (doc._id === 'f-1') await between();
        return store.write(doc);
      },
    };
    const using = createClient({ store: meddled }).useFlowVersion(named, '2');
    const found = await using.then(
      ({ changed }) => changed,
      (error: unknown) => error,
    );
    expect(found).toEqual(code === undefined ? true : expect.objectContaining({ code }));
    const { versions } = await client.flowVersions(named);
    expect(versions.filter(({ current }) => current)).toMatchObject([{ version: is }]);
  });
});

describe('watch', () => {
  it('tells every state on the way and answers with the final job', async () => {
    const { client, put, engine } = await ready();
    await put({ ...task('a'), _id: 't' }, { ...flow('f', ['a', 'a']), _id: 'f' });
    const { id } = await client.submit({ type: 'job', flow: 'f' });
    const states: unknown[] = [];
    const watching = client.watch(id, { onChange: ({ state }) => states.push(state) });
    await engine();
    expect(await watching).toMatchObject({ _id: id, state: '$$complete', exit: 0 });
    expect(states[0]).toBeUndefined();
    expect(states.at(-1)).toBe('$$complete');
    expect(await client.watch(id)).toMatchObject({ state: '$$complete' });
  });

  it('answers undefined when the job is removed', async () => {
    const { client } = await ready();
    const { id, rev } = await client.submit({ type: 'job', flow: 'f' });
    let begun = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const watching = client.watch(id, { onChange: begun });
    await seen;
    await client.remove(id, rev);
    expect(await watching).toBeUndefined();
  });

  it('tells that the database is away, and that it is back, also before its first look', async () => {
    const { put, store } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'f', state: '$$complete', exit: 1, failure: {} });
    const proxy = await startProxy(couchUrl());
    await proxy.listen(false);
    const away = openStore({ ...store.connection, url: proxy.url });
    const states: string[] = [];
    const watching = createClient({ store: away }).watch('j', {
      onState: ({ kind }) => states.push(kind),
    });
    await expect.poll(() => states).toContain('lost');
    await proxy.listen(true);
    expect(await watching).toMatchObject({ state: '$$complete' });
    expect(states.at(-1)).toBe('following');
    await away.close();
  });

  it('knows no job that is not there', async () => {
    const { client } = await ready();
    await expect(client.watch('nix')).rejects.toMatchObject({ code: 'document_missing' });
  });
});

describe('submit', () => {
  const order = {
    _id: 'order-7',
    type: 'job',
    flow: 'f',
    params: { 'a-0': { to: 'Ada' } },
  } as const;

  it('stores one of several jobs of one id that come at once; the others find it', async () => {
    const { client, store } = await ready();
    const all = await Promise.all(Array.from({ length: 8 }, () => client.submit(order)));
    expect(all.filter(({ existed }) => !existed)).toHaveLength(1);
    expect(new Set(all.map(({ rev }) => rev)).size).toBe(1);
    expect(await store.view('jobs')).toHaveLength(1);
  });

  it('finds it also when an engine has begun and ended it', async () => {
    const { client, put, engine, ended } = await ready();
    await put(
      { ...task('a', { params: { from: 'me' } }), _id: 't' },
      { ...flow('f', ['a']), _id: 'f' },
    );
    await client.submit(order);
    await engine();
    await ended('order-7');
    expect(await client.submit(order)).toMatchObject({ id: 'order-7', existed: true });
    const other = client.submit({ ...order, params: { 'a-0': { to: 'Bob' } } });
    await expect(other).rejects.toMatchObject({
      code: 'id_taken',
      message: expect.stringContaining('params.a-0.to') as string,
    });
  });

  it('tells a conflict of different orders that come at once', async () => {
    const { client } = await ready();
    const orders = ['Ada', 'Bob'].map((to) => ({ ...order, params: { 'a-0': { to } } }));
    const results = await Promise.allSettled(orders.map((one) => client.submit(one)));
    const refused = results.find((one) => one.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'id_taken' });
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('writing', () => {
  it('never overwrites what somebody else changed', async () => {
    const { client } = await ready();
    const doc = { ...task('a'), _id: 'a' };
    const rev = await client.write(doc);
    const newer = await client.write({ ...doc, _rev: rev, timeout: 1 });
    const late = client.write({ ...doc, _rev: rev, timeout: 2 });
    await expect(late).rejects.toMatchObject({ code: 'document_conflict' });
    await expect(client.remove('a', rev)).rejects.toMatchObject({ code: 'document_conflict' });
    await client.remove('a', newer);
    expect(await client.get('a')).toBeUndefined();
  });

  it('says why the database refuses a document', async () => {
    const { client } = await ready();
    const refused = client.write({ _id: 'x', type: 'job', flow: 7 });
    await expect(refused).rejects.toMatchObject({ code: 'document_refused', exit: 3 });
  });
});

describe('setEnabled', () => {
  it('finds a flow by id, by name and by name::owner', async () => {
    const { client, put, store } = await ready();
    await put(
      { ...flow('f', []), _id: 'one' },
      { ...flow('f', [], { owner: 'team' }), _id: 'two' },
    );
    expect(await client.setEnabled('one', false, 'DEFAULT')).toEqual({ id: 'one', changed: true });
    expect(await client.setEnabled('f', false, 'DEFAULT')).toEqual({ id: 'one', changed: false });
    expect(await client.setEnabled('f::team', false, 'DEFAULT')).toMatchObject({ id: 'two' });
    expect(await store.get('two')).toMatchObject({ enabled: false, name: 'f' });
    expect(await client.setEnabled('f', true, 'DEFAULT')).toEqual({ id: 'one', changed: true });
  });

  it('refuses what is no flow, is not there or is not clear', async () => {
    const { client, put } = await ready();
    await put(
      { ...task('t'), _id: 't' },
      { ...flow('f', []), _id: 'one' },
      { ...flow('f', []), _id: 'two' },
    );
    const refusals = { t: 'document_kind', nix: 'definition_missing', f: 'definition_ambiguous' };
    for (const [name, code] of Object.entries(refusals)) {
      await expect(client.setEnabled(name, false, 'DEFAULT')).rejects.toMatchObject({ code });
    }
  });
});
