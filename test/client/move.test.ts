import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectServer } from '../../src/client.js';
import { moveBack, moveDatabase, type MoveStage } from '../../src/client-rules.js';
import { createClient } from '../../src/client/client.js';
import type { Connection } from '../../src/store/connection.js';
import { copyChanges } from '../../src/client/move/copy.js';
import { forgetSurplus, noteCutOver } from '../../src/client/move/surplus.js';
import { openClient } from '../../src/store/client.js';
import { eraseDocuments, forgetDocuments } from '../../src/store/erase.js';
import { unmarkMoved } from '../../src/store/moved.js';
import { readTombstones } from '../../src/store/purge.js';
import { openStore } from '../../src/store/store.js';
import { removeAfterwards, request } from '../support/couch.js';
import { openWorkspace } from '../support/workspace.js';

/** Writes a line for each call, so that a step that runs twice is seen. */
const plugins = {
  'tell.mjs': `import { appendFile } from 'node:fs/promises';
    import { join } from 'node:path';
    export default async ({ job, step, params }) => {
      await appendFile(join(import.meta.dirname, 'calls'), job._id + ' ' + step.path + '\\n');
      await new Promise((resolve) => setTimeout(resolve, params.ms ?? 0));
      return job._id;
    };`,
};
const definitions = [
  { _id: 'task:DEFAULT:tell', type: 'task', name: 'tell' },
  {
    ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me' },
    tasks: ['tell', { wait: { signal: 'go' } }, 'tell'],
  },
];
const job = (_id: string, more: object = {}) => ({
  _id,
  type: 'job',
  flow: 'f',
  owner: 'me',
  ...more,
});

async function places() {
  const space = await openWorkspace(plugins);
  const from = space.store.connection;
  const to: Connection = { ...from, database: `${from.database}-moved` };
  removeAfterwards(to.database);
  const target = openStore(to);
  const stages: MoveStage['kind'][] = [];
  const move = (more: object = {}) =>
    moveDatabase({
      ...{ from, to, waitMs: 120_000, signal: new AbortController().signal },
      prepareSensitive: () => Promise.resolve(),
      tell: ({ kind }) => stages.at(-1) !== kind && stages.push(kind),
      ...more,
    });
  const calls = async () =>
    (await readFile(join(space.folder, 'calls'), 'utf8')).trim().split('\n').sort();
  return { ...space, from, to, target, move, stages, calls };
}

describe('moveDatabase', () => {
  it('V3, V5, V6: moves a database whose engine works, and no step runs twice', async () => {
    const { put, engine, until, from, to, target, move, stages, calls } = await places();
    await put(...definitions, job('waits'), job('runs', { params: { 'tell-0': { ms: 700 } } }));
    const old = await engine();
    await until('waits', ({ state }) => state === 'wait-1');
    await until('runs', ({ state }) => state === 'tell-0');
    const { documents } = await move();
    const inOrder = stages.filter((kind) => kind === 'cutting_over' || kind === 'comparing');
    expect([stages[0], ...inOrder]).toEqual(['copying', 'cutting_over', 'comparing']);
    expect((await old.failed).message).toBe(
      `The database "${from.database}" has moved to ${new URL(to.url).origin}/${to.database}.`,
    );
    const refused = await request('PUT', `/${from.database}/late`, { body: job('late') });
    expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    expect(refused.body.reason).toContain(`has moved to ${new URL(to.url).origin}/${to.database}`);
    expect((await inspectServer(from)).problem?.code).toBe('database_moved');

    // The task, the flow, two jobs and the engine; design documents are installed anew.
    expect(documents).toBe(5);
    expect(await target.get('engine-control:*')).toBeUndefined();
    await old.stop();
    await engine({ store: target });
    for (const [n, id] of ['waits', 'runs'].entries()) {
      await target.write({ _id: `s${n}`, type: 'signal', job: id, name: 'go' });
    }
    const state = async (id: string) => (await target.get(id))?.['state'];
    await expect.poll(() => state('waits')).toBe('$$complete');
    await expect.poll(() => state('runs')).toBe('$$complete');
    expect(await calls()).toEqual(['runs 0', 'runs 2', 'waits 0', 'waits 2']);
  });

  it('V4: gives up when a step does not end in time, and engines work on', async () => {
    const { put, engine, until, ended, store, move } = await places();
    await put(
      { _id: 'task:DEFAULT:tell', type: 'task', name: 'tell', params: { ms: 3_000 } },
      { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['tell', 'tell'] },
      job('long'),
    );
    await engine();
    await until('long', ({ state }) => state === 'tell-0');
    const error = await move({ waitMs: 500 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'move_busy' });
    expect(String(error)).toContain('a step still runs: tell of long (engine:');
    expect(await store.get('engine-control:*')).toBeUndefined();
    expect(await store.movedTo()).toBeUndefined();
    expect(await ended('long')).toMatchObject({ exit: 0 });
  });

  it('V4: does not cut over at once while a worker could be given a step', async () => {
    const { put, store, move, stages } = await places();
    const client = createClient({ store });
    const task = { _id: 'task:DEFAULT:tell', type: 'task', name: 'tell', plugin: 'worker' };
    const flow = { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', timeout: 0 };
    const worker = { type: 'tell' };
    await put(task, { ...flow, tasks: [{ task: 'tell', params: { worker } }] });
    const [offered] = await client.beginWork([job('offered') as never], { now: Date.now() });
    await put(offered ?? {});
    const stopping = new AbortController();
    const tell = ({ kind }: MoveStage): void => {
      if (stages.at(-1) !== kind) stages.push(kind);
      if (kind === 'waiting') stopping.abort();
    };
    await expect(move({ signal: stopping.signal, waitMs: 0, tell })).rejects.toThrow();
    expect(stages).toEqual(['copying', 'waiting']);
    expect(await store.get('engine-control:*')).toBeUndefined();
    expect(await store.movedTo()).toBeUndefined();
  });

  it('keeps a control for all engines as it was before, in both places', async () => {
    const { put, store, target, from, to, move } = await places();
    const control = {
      _id: 'engine-control:*',
      type: 'engine-control',
      engine: '*',
      enabled: false,
    };
    await put({ ...control, reason: 'Holidays.' });
    await move();
    expect(await target.get(control._id)).toMatchObject({ ...control, reason: 'Holidays.' });
    await moveBack({ from, to });
    const back = await store.get(control._id);
    expect(back).toMatchObject({ ...control, reason: 'Holidays.' });
    expect(back).not.toHaveProperty('moving');
  });

  it('V7: is undone as long as nothing has happened in the new place, and may be repeated', async () => {
    const { put, store, target, from, to, move } = await places();
    await put(...definitions, job('a'));
    await move();
    await move();
    await moveBack({ from, to });
    expect(await store.movedTo()).toBeUndefined();
    await put(job('b'));
    await move();
    expect(await target.get('b')).toBeDefined();
    await target.write({ ...(await target.get('a')), _id: 'a', note: 1 });
    await expect(moveBack({ from, to })).rejects.toMatchObject({ code: 'move_in_use' });
    expect(await store.movedTo()).toBeDefined();
    expect(await target.movedTo()).toBeUndefined();
    const elsewhere = { ...to, database: `${to.database}-other` };
    await expect(moveBack({ from, to: elsewhere })).rejects.toMatchObject({
      code: 'database_moved',
    });
  });

  it('V8: forgets in the new place what was removed and purged in the old one since an earlier copy', async () => {
    const { put, store, target, from, to, move } = await places();
    await put(...definitions, job('gone'), job('again'), job('stays'));
    await move();
    await moveBack({ from, to });
    await store.remove('gone', String((await store.get('gone'))?._rev));
    const again = await target.get('again');
    await store.write({ ...again, _id: 'again', note: 1 });
    await eraseDocuments(from, ['gone', 'again']);
    await put(job('again', { note: 2 }));
    const { documents } = await move();
    expect(await target.get('gone')).toBeUndefined();
    expect(await target.get('again')).toMatchObject({ note: 2 });
    expect(await target.get('stays')).toBeDefined();
    expect(documents).toBe(4);
  });

  it('V8: keeps what somebody stored in the new place while a move was interrupted', async () => {
    const { put, store, target, from, to, move } = await places();
    await put(...definitions, job('gone'));
    await move();
    await moveBack({ from, to });
    await eraseDocuments(from, ['gone']);
    const stopping = new AbortController();
    const tell = ({ kind }: MoveStage): void => {
      if (kind === 'comparing') stopping.abort();
    };
    await expect(move({ signal: stopping.signal, tell })).rejects.toThrow();
    expect(await store.movedTo()).toBeDefined();
    await target.write(job('new'));
    await move();
    expect(await target.get('new')).toBeDefined();
    expect(await target.get('gone')).toBeUndefined();
  });

  it('V9: does not cut over when somebody stored something in the new place before', async () => {
    const { put, store, target, from, to, move } = await places();
    await put(...definitions, job('changed'), job('deleted'));
    await move();
    await moveBack({ from, to });
    // As a move does that is killed then.
    await unmarkMoved(to);
    await put(job('a'));
    await copyChanges({ from, to, signal: new AbortController().signal }, () => undefined);
    await store.write({ ...(await store.get('a')), _id: 'a', note: 1 });
    await target.write(job('mine'));
    await target.write({ ...(await target.get('changed')), _id: 'changed', note: 1 });
    await target.remove('deleted', String((await target.get('deleted'))?._rev));
    const refused = await move().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'move_target_changed', exit: 3 });
    expect(String(refused)).toContain('3 documents were stored or deleted, and not by this move:');
    expect(await store.movedTo()).toBeUndefined();
    expect(await store.get('engine-control:*')).toBeUndefined();
    expect(await target.get('mine')).toBeDefined();
    await target.remove('mine', String((await target.get('mine'))?._rev));
    await eraseDocuments(target.connection, ['changed', 'deleted']);
    for (const id of ['changed', 'deleted']) {
      await store.write({ ...(await store.get(id)), _id: id, note: 2 });
    }
    await move();
    expect(await target.get('changed')).toMatchObject({ note: 2 });
  });

  it('V8: ends the erasure that a move began which was killed', async () => {
    const { put, store, target, from, to, move } = await places();
    await put(...definitions, job('gone'), job('again'));
    await move();
    await moveBack({ from, to });
    await eraseDocuments(from, ['gone', 'again']);
    await put(job('again', { note: 2 }));
    await unmarkMoved(to);
    await noteCutOver(to);
    const isLeftOut = (id: string): boolean => id.startsWith('_design/');
    const options = { from, to, signal: new AbortController().signal, isLeftOut };
    const killed = forgetSurplus({
      ...options,
      erase: async (_to, ids) => {
        for (const id of ids) await target.remove(id, String((await target.get(id))?._rev));
        throw new Error('killed');
      },
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await target.get('again')).toBeUndefined();
    await forgetSurplus({ ...options, erase: forgetDocuments });
    expect(await target.get('again')).toMatchObject({ note: 2 });
    expect(await readTombstones(openClient(to), ['gone', 'again'])).toEqual(new Map());
    expect(await store.get('again')).toEqual(await target.get('again'));
  });

  it('is not undone when something was deleted in the new place', async () => {
    const { put, target, from, to, move } = await places();
    await put(job('a'), job('b'));
    await move();
    await target.remove('a', String((await target.get('a'))?._rev));
    await expect(moveBack({ from, to })).rejects.toMatchObject({ code: 'move_in_use' });
    expect(await target.movedTo()).toBeUndefined();
  });

  it('takes neither the same database nor one with documents of something else', async () => {
    const { put, from, to, target, move } = await places();
    await put(job('a'));
    await expect(move({ to: from })).rejects.toMatchObject({ code: 'move_target_same' });
    await request('PUT', `/${to.database}`);
    await target.write({ _id: 'mine' });
    await expect(move()).rejects.toMatchObject({ code: 'move_target_used' });
  });

  it('does not move into a database that has moved on', async () => {
    const { put, to, move } = await places();
    await put(job('a'));
    await move();
    const further: Connection = { ...to, database: `${to.database}-on` };
    removeAfterwards(further.database);
    await move({ from: to, to: further });
    await expect(move()).rejects.toMatchObject({ code: 'database_moved' });
    expect(await openStore(to).movedTo()).toContain(further.database);
  });
});
