import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../../model/step.js';
import type { StoredDocument } from '../../model/document.js';
import type { Assembly } from '../assembly.js';

type Parts = Pick<Assembly, 'store' | 'serializer' | 'log'>;

/** Writes into a malformed request, signal or event what is wrong with it, and logs it once. */
export function reportMalformed(
  { store, serializer, log }: Parts,
  doc: StoredDocument,
  called: 'request' | 'event',
  why: Failure,
): void {
  if (isDeepStrictEqual(doc['failure'], why)) return;
  const { _id: id } = doc;
  void serializer.queue(id, async () => {
    const { kind } = await store.write({ ...doc, failure: why });
    const what = called === 'event' ? `Event ${id}` : `Request ${id}`;
    if (kind === 'written') log.warn({ [called]: id }, `${what}: ${why.message}`);
  });
}
