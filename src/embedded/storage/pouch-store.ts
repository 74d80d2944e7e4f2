import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { LevelDown } from 'leveldown';

import { createBodyCache } from './body-cache.js';
import { createGate, type Gate } from './gate.js';
import {
  compactLevel,
  countKeys,
  directoryBytes,
  LAST,
  openOrderedMap,
  scanLevel,
} from './level.js';
import { openPouch, type Pouch, type PouchError } from './pouch.js';
import type { Settings } from './pouch-storage.js';
import { readers } from './pouch-reads.js';
import type { Doc, OrderedMap, Store, WriteResult } from './storage.js';
import { createWriteQueue } from './write-queue.js';

/** How many revisions of a document are remembered unless `_revs_limit` says otherwise. */
export const DEFAULT_REVS_LIMIT = 50;

/** Thrown by every method of a store that was closed or removed. */
export class StoreClosed extends Error {
  override readonly name = 'StoreClosed';
}

/** The open handles of a store, replaced when it is reopened with another revision limit. */
export type Handles = { pouch: Pouch; level: LevelDown };

type Options = {
  readonly home: string;
  readonly settings: Settings;
  readonly remove: () => Promise<void>;
};

/** Opens one database on PouchDB; see `storage.ts` for the contract. */
export async function openPouchStore({ home, settings, remove }: Options): Promise<Store> {
  let limit = (settings.get('revs_limit') as number | undefined) ?? DEFAULT_REVS_LIMIT;
  const location = join(home, 'data');
  const indexHome = join(home, 'indexes');
  let handles: Handles = await openPouch(location, limit);
  const instance = await handles.pouch.id();
  let closed = false;
  const gate = createGate();
  const guarded = closable(gate, () => closed);
  const queue = createWriteQueue(() => handles.pouch);
  const bodies = createBodyCache();
  const counter = createTombstoneCounter(() => handles.level);
  const open = new Map<string, Promise<OrderedMap>>();

  const closeAll = async (): Promise<void> => {
    closed = true;
    const maps = await Promise.allSettled(open.values());
    for (const map of maps) if (map.status === 'fulfilled') await map.value.close();
    await handles.pouch.close();
  };

  return {
    instance,
    ...readers({ guarded, handles: () => handles, bodies }),
    info: () =>
      guarded(async () => {
        const { doc_count: docCount, update_seq: updateSeq } = await handles.pouch.info();
        const deletedCount = (await counter.total()) - docCount;
        const fileBytes = await directoryBytes(location);
        return { docCount, deletedCount, updateSeq, fileBytes };
      }),
    updateSeq: () => guarded(async () => (await handles.pouch.info()).update_seq),
    write: (docs, { newEdits }) =>
      guarded(async () => {
        const results = await queue.write(docs, newEdits);
        counter.note(results, newEdits);
        if (newEdits) bodies.note(docs, results);
        else for (const doc of docs) bodies.forget(doc._id);
        return results;
      }),
    putLocal: (doc) =>
      guarded(async () => {
        for (;;) {
          const current = await localDoc(handles.pouch, doc._id);
          const { _rev, ...body } = doc;
          const next = current?._rev === undefined ? body : { ...body, _rev: current._rev };
          const written = await handles.pouch.put(next).catch(ignoreConflict);
          if (written !== undefined) return written.rev;
        }
      }),
    removeLocal: (id) =>
      guarded(async () => {
        const current = await localDoc(handles.pouch, id);
        if (current === undefined) return false;
        await handles.pouch.remove(current).catch(ignoreConflict);
        return true;
      }),
    getLocal: (id) => guarded(() => localDoc(handles.pouch, id)),
    listLocal: () =>
      guarded(async () => {
        const prefix = '\u00fflocal-store\u00ff';
        const docs: Doc[] = [];
        for await (const entry of scanLevel(handles.level, { from: prefix, to: prefix + LAST })) {
          docs.push(JSON.parse(entry.value) as Doc);
        }
        return docs.filter((doc) => doc._id !== '_local/compaction');
      }),
    revsLimit: () => limit,
    setRevsLimit: (next) =>
      gate.alone(async () => {
        if (closed) throw new StoreClosed();
        await settings.save('revs_limit', next);
        await handles.pouch.close();
        limit = next;
        handles = await openPouch(location, next);
      }),
    setting: (name) => settings.get(name),
    saveSetting: (name, value) => guarded(() => settings.save(name, value)),
    compact: () =>
      guarded(async () => {
        await handles.pouch.compact();
        await compactLevel(handles.level);
      }),
    index: (name) =>
      guarded(async () => {
        const known = open.get(name);
        if (known !== undefined) return known;
        const opening = openOrderedMap(join(indexHome, encodeURIComponent(name)));
        open.set(name, opening);
        opening.catch(() => open.delete(name));
        return opening;
      }),
    indexes: async () => (await readdir(indexHome).catch(() => [])).map(decodeURIComponent),
    removeIndex: (name) =>
      guarded(async () => {
        await (await open.get(name))?.close();
        open.delete(name);
        await rm(join(indexHome, encodeURIComponent(name)), { recursive: true, force: true });
      }),
    close: () => gate.alone(async () => (closed ? undefined : closeAll())),
    destroy: () =>
      gate.alone(async () => {
        if (closed) throw new StoreClosed();
        await closeAll();
        await remove();
      }),
  };
}

/** Wraps operations so that they neither meet a closing store nor use a closed one. */
export type Guarded = <T>(operation: () => Promise<T>) => Promise<T>;

const closable =
  (gate: Gate, isClosed: () => boolean): Guarded =>
  (operation) =>
    gate.pass(async () => {
      if (isClosed()) throw new StoreClosed();
      return operation();
    });

const localDoc = (pouch: Pouch, id: string): Promise<Doc | undefined> =>
  pouch.get(id, {}).catch((error: PouchError) => {
    if (error.status === 404) return undefined;
    throw error as Error;
  });

const ignoreConflict = (error: PouchError): undefined => {
  if (error.status === 409 || error.status === 404) return undefined;
  throw error as Error;
};

/** PouchDB counts live documents only: deleted ones are all ids ever written minus those. */
function createTombstoneCounter(level: () => LevelDown): {
  total(): Promise<number>;
  note(results: readonly WriteResult[], newEdits: boolean): void;
} {
  let known: Promise<number> | undefined;
  const count = (): Promise<number> => {
    const prefix = '\u00ffdocument-store\u00ff';
    return countKeys(level(), prefix, prefix + LAST);
  };
  return {
    total: () => (known ??= count()),
    note(results, newEdits) {
      if (!newEdits) known = undefined;
      const added = results.filter((result) => 'rev' in result && result.rev.startsWith('1-'));
      if (known !== undefined && added.length > 0) known = known.then((n) => n + added.length);
    },
  };
}
