import { hostname } from 'node:os';
import type { EngineDocument } from '../model/engine.js';
import type { Store } from '../store/store.js';

/** What an engine says of itself in its document. */
export type Presence = {
  /** Stores the document anew; a failed renewal is made up for by the next one. */
  readonly renew: () => Promise<void>;
  /** Says that it takes no more work. */
  readonly drain: () => Promise<void>;
  /** Removes the document: the engine has ended in order. */
  readonly leave: () => Promise<void>;
};

export type PresenceFacts = Pick<EngineDocument, 'plugins' | 'labels' | 'slots' | 'version'> & {
  readonly id: string;
  readonly pid: number;
};

/** Keeps the document `engine:<id>` of this process. */
export function createPresence(store: Store, facts: PresenceFacts, now: () => number): Presence {
  const { id, ...told } = facts;
  let rev: string | undefined;
  let beat = 0;
  let state: EngineDocument['state'] = 'running';
  const started = now();

  const write = async (): Promise<void> => {
    beat += 1;
    const doc: EngineDocument = {
      _id: id,
      type: 'engine',
      host: hostname(),
      ...told,
      started,
      renewed: now(),
      beat,
      state,
    };
    const result = await store.write(rev === undefined ? doc : { ...doc, _rev: rev });
    if (result.kind === 'written') {
      rev = result.rev;
    } else {
      const stored = await store.get(id).catch(() => undefined);
      rev = stored?._rev;
      if (typeof stored?.['beat'] === 'number') beat = Math.max(beat, stored['beat']);
    }
  };
  return {
    renew: write,
    drain: async () => {
      state = 'draining';
      await write();
    },
    leave: async () => {
      if (rev !== undefined) await store.remove(id, rev);
    },
  };
}
