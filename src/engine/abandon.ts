import { wordTo, type GivenUp } from '../decide/abandoned.js';
import type { Store } from '../store/store.js';
import type { Log } from './log.js';
import type { Retry } from './patience.js';

export type AbandonParts = {
  readonly store: Pick<Store, 'get' | 'write'>;
  readonly retry: Retry;
  readonly log: Log;
};

/**
 * Gives up child jobs (G1 to G3). Resolves when the word to each of them is stored, which is before
 * the parent is written: an engine that dies in between leaves no child behind.
 */
export async function giveUp(
  { store, retry, log }: AbandonParts,
  children: readonly GivenUp[] = [],
): Promise<void> {
  await Promise.all(
    children.map(async (given) => {
      const refused = await retry(() => tell(store, given));
      if (refused === undefined || refused === '') return;
      log.error({ job: given.child }, `Job ${given.child} cannot be asked to cancel: ${refused}`);
    }),
  );
}

/** Maximum number of other writes of the child that a word is tried against at once. */
const mostTries = 12;

/**
 * Stores the word to a child; what was not acknowledged is stored again. Resolves to why the database
 * refuses it, else to an empty text.
 */
async function tell(store: AbandonParts['store'], given: GivenUp): Promise<string> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const word = wordTo(given, await store.get(given.child));
    if (word.kind === 'none') return '';
    const result = await store.write(word.doc);
    switch (result.kind) {
      case 'written':
        return '';
      case 'refused':
        return result.reason;
      case 'unknown':
        throw new Error(result.cause);
      case 'conflict':
        if (word.kind === 'request') return '';
    }
  }
  throw new Error(`Job ${given.child} was changed ${mostTries} times meanwhile.`);
}
