import { hostname } from 'node:os';
import type { EngineDocument } from '../model/engine.js';
import type { Store } from '../store/store.js';

/** What an engine says of itself in its document. */
export type Presence = {
  /** Stores the document anew. Resolves when the store has it, rejects when it is not known to. */
  readonly renew: () => Promise<void>;
  /** Says that it takes no more work. */
  readonly drain: () => Promise<void>;
  /** Removes the document: the engine has ended in order. */
  readonly leave: () => Promise<void>;
};

export type PresenceFacts = Pick<
  EngineDocument,
  'plugins' | 'labels' | 'queues' | 'slots' | 'version'
> & {
  readonly id: string;
  readonly pid: number;
};

/** A document of a former life, or a lost answer, stands in the way once, seldom twice. */
const mostTries = 5;

/** Keeps the document `engine:<id>` of this process. */
export function createPresence(store: Store, facts: PresenceFacts, now: () => number): Presence {
  const { id, ...told } = facts;
  let rev: string | undefined;
  let beat = 0;
  let state: EngineDocument['state'] = 'running';
  const started = now();

  const documentNow = (): EngineDocument => ({
    _id: id,
    type: 'engine',
    host: hostname(),
    ...told,
    started,
    renewed: now(),
    beat,
    state,
  });
  /** One try; false when another revision stood in the way, which the next try knows. */
  const tryWrite = async (): Promise<boolean> => {
    beat += 1;
    const doc = documentNow();
    const result = await store.write(rev === undefined ? doc : { ...doc, _rev: rev });
    if (result.kind === 'written') {
      rev = result.rev;
      return true;
    }
    const stored = await store.get(id);
    rev = stored?._rev;
    if (stored?.['beat'] === beat && stored['started'] === started) return true;
    if (typeof stored?.['beat'] === 'number') beat = Math.max(beat, stored['beat']);
    return false;
  };
  const write = async (): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries += 1) if (await tryWrite()) return;
    throw new Error(`The document ${id} was not stored.`);
  };
  return {
    renew: write,
    drain: async () => {
      state = 'draining';
      // Without it the engine is only asked in vain for a while.
      await write().catch(() => undefined);
    },
    leave: async () => {
      if (rev !== undefined) await store.remove(id, rev);
    },
  };
}
