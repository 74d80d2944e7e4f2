import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { flow, task } from '../cli/terminal.js';
import { openWorkspace } from '../support/workspace.js';

async function ready(plugins: Readonly<Record<string, string>> = {}) {
  const workspace = await openWorkspace(plugins);
  return { ...workspace, client: createClient({ store: workspace.store }) };
}

describe('submitMany', () => {
  it('stores each job once and says what became of each', async () => {
    const { client, put } = await ready();
    await put({ ...task('t'), _id: 'taken' }, { _id: 'there', type: 'job', flow: 'f' });
    const answers = await client.submitMany([
      { type: 'job', flow: 'f' },
      { _id: 'there', type: 'job', flow: 'f' },
      { _id: 'taken', type: 'job', flow: 'f' },
      { _id: 'twice', type: 'job', flow: 'f' },
      { _id: 'twice', type: 'job', flow: 'f' },
      { _id: 'twice', type: 'job', flow: 'g' },
      { type: 'job', flow: 7 },
      { _id: 'there', type: 'job', flow: 'f', owner: 'acme' },
    ]);
    expect(answers).toMatchObject([
      { kind: 'submitted', existed: false },
      { kind: 'submitted', existed: true, id: 'there' },
      { kind: 'refused', problem: { code: 'id_taken' } },
      { kind: 'submitted', existed: false, id: 'twice' },
      { kind: 'submitted', existed: true, id: 'twice' },
      { kind: 'refused', problem: { code: 'id_taken' } },
      { kind: 'refused', problem: { code: 'document_refused' } },
      { kind: 'refused', problem: { code: 'id_taken' } },
    ]);
  });
});

describe('requestMany', () => {
  it('asks the same of many jobs and tells what the engines made of it', async () => {
    const { client, put, engine, ended, store } = await ready();
    await put(
      { ...task('bad', { plugin: 'fail' }), _id: 't' },
      { ...flow('f', ['bad']), _id: 'f' },
    );
    await engine();
    const ids = ['a', 'b', 'c'];
    await client.submitMany(ids.map((_id) => ({ _id, type: 'job', flow: 'f' })));
    for (const id of ids) await ended(id);
    const jobs = [...(await store.getMany(ids)).values()];
    expect(await client.requestMany(jobs, 'cancel', { waitMs: 0 })).toMatchObject(
      ids.map((id) => ({ id, kind: 'refused', problem: { code: 'job_ended' } })),
    );
    const noted = await client.requestMany(jobs, 'note', { waitMs: 10_000, text: 'Seen.' });
    expect(noted).toEqual(ids.map((id) => ({ id, kind: 'applied' })));
    expect(await store.get('b')).toMatchObject({ notes: [{ text: 'Seen.' }] });
    const empty = await client.requestMany(jobs.slice(0, 1), 'note', { waitMs: 10_000 });
    expect(empty).toMatchObject([{ kind: 'refused', problem: { code: 'request_refused' } }]);
    const retried = await client.requestMany(jobs, 'retry', { waitMs: 0, by: 'ada' });
    expect(retried.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored']);
  });
});

describe('changes', () => {
  it('are read from a position on, page by page', async () => {
    const { client, put, store } = await ready();
    const begin = await client.position();
    await put({ _id: 'a', type: 'job', flow: 'f' }, { _id: 'b', type: 'job', flow: 'f' });
    const gone = await store.get('a');
    await store.write({ _id: 'a', _rev: gone?._rev ?? '', _deleted: true, refused: 'No.' });
    const first = await client.changes(begin, 1);
    expect(first).toMatchObject({ kind: 'known', changes: [{}], more: true });
    const seq = first.kind === 'known' ? first.seq : '';
    const second = await client.changes(seq, 100);
    const changes = [first, second].flatMap((one) => (one.kind === 'known' ? one.changes : []));
    expect(changes.find(({ id }) => id === 'a')).toMatchObject({
      deleted: true,
      remains: { refused: 'No.' },
    });
    expect(changes.find(({ id }) => id === 'b')).toMatchObject({ doc: { flow: 'f' } });
    expect(second).toMatchObject({ more: false });
    expect(await client.changes('nonsense', 1)).toEqual({ kind: 'unknown' });
  });
});

describe('tokens', () => {
  it('are shown once, checked by their hash, and can be revoked', async () => {
    const { client, store } = await ready();
    const made = await client.createToken({ name: 'ci', roles: ['tws-operator'] });
    expect(made.token).toMatch(/^tws_[0-9A-Za-z]{12}_[\w-]{43}$/);
    const stored = JSON.stringify(await store.get(`token:${made.id}`));
    expect(stored).not.toContain(made.token.slice(-43));
    expect(await client.checkToken(made.token)).toMatchObject({ name: 'ci', id: made.id });
    expect(await client.tokens()).toEqual([
      { id: made.id, name: 'ci', roles: ['tws-operator'], created: made.created },
    ]);
    const other = `${made.token.slice(0, -1)}${made.token.endsWith('A') ? 'B' : 'A'}`;
    for (const wrong of ['', 'tws_x', other, made.token.replace(made.id, 'AAAAAAAAAAAA')]) {
      expect(await client.checkToken(wrong)).toBeUndefined();
    }
    await client.revokeToken(made.id);
    expect(await client.checkToken(made.token)).toBeUndefined();
    await expect(client.revokeToken(made.id)).rejects.toMatchObject({ code: 'document_missing' });
  });

  it('end when they expire', async () => {
    const { client } = await ready();
    const made = await client.createToken({ name: 'old', roles: [], expires: Date.now() - 1 });
    expect(await client.checkToken(made.token)).toBeUndefined();
    expect(await client.tokens()).toMatchObject([{ name: 'old', expires: made.expires }]);
  });
});
