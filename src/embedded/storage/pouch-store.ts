import { join } from 'node:path';

import type { LevelDown } from 'leveldown';

import { digestBodies } from './attachment-digests.js';
import { createBodyCache, type BodyCache } from './body-cache.js';
import { indexMaps } from './index-maps.js';
import { compactLevel, countKeys, directoryBytes, LAST, openOrderedMap } from './level.js';
import { locals } from './pouch-locals.js';
import { purging } from './pouch-purge.js';
import { readers } from './pouch-reads.js';
import { openSession, type Session } from './session.js';
import type { DocumentStore, DocWriteResult, LeavesById } from './storage.js';
import { DEFAULT_REVS_LIMIT, type StoreHome } from './store-home.js';
import { createWriteQueue } from './write-queue.js';
import type { WriteListener } from './write-tap.js';

/** Opens one database on PouchDB; see `storage.ts` for the contract. */
export async function openPouchStore({
  home,
  settings,
  remove,
}: StoreHome): Promise<DocumentStore> {
  const limit = (settings.get('revs_limit') as number | undefined) ?? DEFAULT_REVS_LIMIT;
  const location = join(home, 'data');
  const bodies = createBodyCache();
  const listeners: WriteListener[] = [
    (changes) => changes?.forEach((change) => bodies.note(change)),
  ];
  const tell: WriteListener = (changes) => listeners.forEach((listener) => listener(changes));
  const session = await openSession(location, limit, tell);
  const instance = await session.pouch().id();
  const { closeIndexes, reopenIndexes, ...indexes } = indexMaps({
    use: session.use,
    home: join(home, 'indexes'),
    openMap: openOrderedMap,
  });

  return {
    instance,
    watch: (listener) => void listeners.push(listener),
    ...figuresAndWrites(session, bodies, { location, tell }),
    ...readers(session, bodies),
    ...locals(session),
    ...indexes,
    revsLimit: () => session.revsLimit(),
    async setRevsLimit(next) {
      await settings.save('revs_limit', next);
      await session.reopen(next);
    },
    setting: (name) => settings.get(name),
    saveSetting: (name, value) => session.use(() => settings.save(name, value)),
    compact: () => session.beside(compactLevel),
    reopen: async () => {
      await session.reopen(session.revsLimit());
      await reopenIndexes();
    },
    close: async () => {
      if (!session.closed()) await session.close(closeIndexes);
    },
    destroy: () =>
      session.close(async () => {
        await closeIndexes();
        await remove();
      }),
  };
}

/** What is counted, and the writes that change it. */
function figuresAndWrites(
  session: Session,
  bodies: BodyCache,
  { location, tell }: { readonly location: string; readonly tell: WriteListener },
): Pick<DocumentStore, 'info' | 'updateSeq' | 'write' | keyof ReturnType<typeof purging>> {
  const { use, pouch, level } = session;
  const queue = createWriteQueue(session);
  const ids = createIdCounter(level);
  const purged = (taken: LeavesById): void => {
    ids.recount();
    for (const id of taken.keys()) bodies.forget(id);
    tell(undefined);
  };
  return {
    ...purging(session, purged),
    info: () =>
      use(async () => {
        const { doc_count: docCount, update_seq: updateSeq } = await pouch().info();
        const deletedCount = Math.max(0, (await ids.total()) - docCount);
        const fileBytes = await directoryBytes(location);
        return { docCount, deletedCount, updateSeq, fileBytes };
      }),
    updateSeq: () => use(async () => (await pouch().info()).update_seq),
    write: (docs, { newEdits }) =>
      use(async () => {
        if (docs.some((doc) => doc['_attachments'] !== undefined)) await digestBodies(docs);
        const results = await queue.write(docs, newEdits);
        ids.note(results, newEdits);
        // Only the store knows these bodies: attachments as stubs, and the winner of a conflict. Of
        // others the tap may have told nothing.
        docs.forEach((doc, i) => {
          const isOwn = !newEdits || doc['_attachments'] !== undefined;
          const result = results[i];
          const isTold =
            result === undefined || !('rev' in result) || bodies.has(doc._id, result.rev);
          if (isOwn || !isTold) bodies.forget(doc._id);
        });
        return results;
      }),
  };
}

/** PouchDB counts live documents only: deleted ones are all ids ever written minus those. */
function createIdCounter(level: () => LevelDown): {
  total(): Promise<number>;
  note(results: readonly DocWriteResult[], newEdits: boolean): void;
  recount(): void;
} {
  let known: Promise<number> | undefined;
  const count = (): Promise<number> => {
    const prefix = '\u00ffdocument-store\u00ff';
    return countKeys(level(), prefix, prefix + LAST);
  };
  return {
    total: () => (known ??= count()),
    recount: () => (known = undefined),
    note(results, newEdits) {
      if (!newEdits) known = undefined;
      const added = results.filter((result) => 'rev' in result && result.rev.startsWith('1-'));
      if (known !== undefined && added.length > 0) known = known.then((n) => n + added.length);
    },
  };
}
