import type { Store } from '../../src/store/store.js';

/** A store with which an engine ends; `reached`: the write has come at which it does. */
export type Ending = { readonly store: Store; readonly reached: Promise<void> };

/** The engine ends right before or right after its write number `at` (from 1) of a job. */
export function endingAt(
  store: Store,
  at: number,
  when: 'before' | 'after',
  end: () => Promise<void>,
): Ending {
  let count = 0;
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const write: Store['write'] = async (doc) => {
    if (doc['type'] === 'job') count += 1;
    if (doc['type'] !== 'job' || count !== at) return store.write(doc);
    if (when === 'after') await store.write(doc);
    void end();
    reach();
    return { kind: 'unknown', cause: 'the engine is gone' };
  };
  return { store: { ...store, write }, reached };
}
