import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../../model/step.js';
import type { StoredDocument } from '../../model/document.js';
import type { Assembly } from '../assembly.js';

type Parts = Pick<Assembly, 'store' | 'desk' | 'log'>;

/** Writes into a malformed request, signal or event what is wrong with it, and logs it once. */
export function tellMalformed(
  { store, desk, log }: Parts,
  doc: StoredDocument,
  called: 'request' | 'event',
  told: Failure,
): void {
  if (isDeepStrictEqual(doc['failure'], told)) return;
  const { _id: id } = doc;
  void desk.queue(id, async () => {
    const { kind } = await store.write({ ...doc, failure: told });
    const what = called === 'event' ? `Event ${id}` : `Request ${id}`;
    if (kind === 'written') log.warn({ [called]: id }, `${what}: ${told.message}`);
  });
}
