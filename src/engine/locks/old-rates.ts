import { isRateId, rateDocumentSchema } from '../../model/rate.js';
import type { Store } from '../../store/store.js';

/** So long after its last grant has come free a document stays, ms: clocks may be wrong. */
const keptMs = 600_000;
/** So many documents are looked at each time: a key may have any number of values. */
const mostLooked = 100;

/**
 * Makes what removes documents whose windows have long passed, a few each time, going through all of them
 * in turn.
 */
export function createOldRates(): (
  store: Pick<Store, 'rangePages' | 'remove'>,
  now: number,
) => Promise<void> {
  let from: string | undefined;
  return async (store, now) => {
    let looked = 0;
    for await (const doc of store.rangePages('rate:', from)) {
      from = doc._id;
      if ((looked += 1) > mostLooked) return;
      if (isRateId(doc._id) && isOld(doc, now)) await store.remove(doc._id, doc._rev);
    }
    from = undefined;
  };
}

function isOld(doc: unknown, now: number): boolean {
  const { success, data } = rateDocumentSchema.safeParse(doc);
  if (!success) return false;
  const last = data.grants.reduce((latest, { at }) => Math.max(latest, at), 0);
  return last + 2 * data.per + keptMs < now;
}
