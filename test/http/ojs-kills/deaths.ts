import type { Store } from '../../../src/store/store.js';

/** Whoever makes this write dies, right before it is stored or right after: the answer is lost. */
export type Death = { readonly at: number; readonly when: 'before' | 'after' };

export type Deaths = {
  /** The store of a process that dies with one of its writes. */
  readonly mortal: (store: Store, onDeath: () => void) => Store;
  /** Counts writes from now on; answers the function that tells how many there were, and ends it. */
  readonly plan: (deaths: readonly Death[], onStored: (doc: Doc) => void) => () => number;
};

type Doc = Parameters<Store['write']>[0];

/** A run that writes for ever stands still after so many, and is found not to end. */
const mostWrites = 1_000;

/** Nothing that a dead process waits for comes to anything. */
const never = <T>(): Promise<T> => new Promise(() => undefined);

/**
 * Processes die as planned. What a dead one still reads changes nothing; what it writes is not stored. The leases
 * of engines do not count: they are renewed by the clock, whatever jobs do.
 */
export function createDeaths(): Deaths {
  let planned: readonly Death[] = [];
  let count = 0;
  let tell: (doc: Doc) => void = () => undefined;
  const next = (doc: Doc): Death['when'] | undefined => {
    if (doc._id.startsWith('engine:')) return undefined;
    const at = count;
    count += 1;
    return planned.find((death) => death.at === at)?.when;
  };
  const mortal: Deaths['mortal'] = (store, onDeath) => {
    let isDead = false;
    const die = <T>(): Promise<T> => {
      isDead = true;
      onDeath();
      return never<T>();
    };
    const write: Store['write'] = async (doc, mostBytes) => {
      if (isDead || count > mostWrites) return never();
      const when = next(doc);
      if (when === 'before') return die();
      const result = await store.write(doc, mostBytes);
      if (result.kind === 'written') tell(doc);
      if (when === 'after') return die();
      return isDead ? never() : result;
    };
    return {
      ...store,
      write,
      remove: (_id, _rev) => write({ _id, _rev, _deleted: true }),
      follow: async function* (options) {
        // The feed goes on, though nobody hears of it: what counts it must not wait for a dead reader.
        for await (const change of store.follow(options)) if (!isDead) yield change;
      },
    };
  };
  const plan: Deaths['plan'] = (deaths, onStored) => {
    planned = deaths;
    tell = onStored;
    count = 0;
    return () => {
      planned = [];
      return count;
    };
  };
  return { mortal, plan };
}
