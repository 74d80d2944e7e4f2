import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { sharingReads } from '../../src/store/shared-reads.js';
import type { Store } from '../../src/store/store.js';

type Held = { readonly request: string; readonly end: (error?: Error) => void };

/** A database that answers when it is told to. */
function opened() {
  const held: Held[] = [];
  let version = 0;
  const answer = <T>(request: string, value: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      held.push({ request, end: (error) => (error ? reject(error) : resolve(value())) });
    });
  const doc = (_id: string): StoredDocument => ({ _id, _rev: `${(version += 1)}-a` });
  const store = sharingReads({
    get: (id: string) => answer(`get ${id}`, () => doc(id)),
    getMany: (ids: readonly string[]) =>
      answer(`get ${ids.join(' ')}`, () => new Map(ids.map((id) => [id, doc(id)]))),
    info: () => answer('info', () => ({ copies: 1 })),
    view: (name: string, query?: object) =>
      answer(`view ${name} ${JSON.stringify(query ?? {})}`, () => [(version += 1)]),
  } as unknown as Store);
  const turn = (): Promise<void> =>
    new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { store, held, turn, requests: () => held.map(({ request }) => request) };
}

describe('a database that shares reads', () => {
  it('asks once for rows that many want, and again for those who ask meanwhile', async () => {
    const { store, held, turn, requests } = opened();
    const first = store.view('engines');
    const second = store.view('engines');
    const third = store.view('engines');
    const other = store.view('tasks', { key: 'a' });
    expect(requests()).toEqual(['view engines {}', 'view tasks {"key":"a"}']);
    held[0]?.end();
    await first;
    await turn();
    expect(requests()).toEqual(['view engines {}', 'view tasks {"key":"a"}', 'view engines {}']);
    held[2]?.end();
    held[1]?.end();
    expect(await second).toBe(await third);
    expect(await second).not.toEqual(await first);
    await other;
    void store.view('engines');
    expect(requests()).toHaveLength(4);
  });

  it('asks again for those who wait when a request fails', async () => {
    const { store, held, turn } = opened();
    const first = store.view('engines');
    const second = store.view('engines');
    held[0]?.end(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await turn();
    held[1]?.end();
    expect(await second).toEqual([1]);
  });

  it('asks together for documents that are wanted at the same time, each once', async () => {
    const { store, held, turn, requests } = opened();
    const found = Promise.all(['a', 'b', 'a'].map((id) => store.get(id)));
    await turn();
    expect(requests()).toEqual(['get a b']);
    held[0]?.end();
    expect((await found).map((doc) => doc?._id)).toEqual(['a', 'b', 'a']);
  });

  it('keeps the state of the database for a while, and not what went wrong', async () => {
    const { store, held, requests } = opened();
    const wrong = store.info();
    held[0]?.end(new Error('away'));
    await expect(wrong).rejects.toThrow('away');
    const right = store.info();
    held[1]?.end();
    await right;
    await store.info();
    expect(requests()).toEqual(['info', 'info']);
  });
});
