import { isDeepStrictEqual } from 'node:util';
import { problem } from '../errors.js';
import { guardRefusal } from '../guard.js';
import { shownId, unfitId } from '../model/ids.js';
import type { Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';

/**
 * Writes a document and answers its revision; an answer that was lost is looked up.
 * @throws TwsError `document_conflict`, `document_refused`, `write_unknown`, `id_unfit`
 */
export async function writeDocument(store: Store, doc: NewDocument): Promise<string> {
  const id = doc._id;
  const unfit = isNamed(doc) && doc._rev === undefined ? unfitId(id) : undefined;
  if (unfit !== undefined) throw problem('id_unfit', { id: shownId(id), reason: unfit });
  // The database may be without its guard, and what it would refuse is no more meant then.
  const reason = doc._rev === undefined ? guardRefusal(doc, null) : undefined;
  if (reason !== undefined) throw problem('document_refused', { id, reason });
  const result = await store.write(doc);
  switch (result.kind) {
    case 'written':
      return result.rev;
    case 'conflict':
      throw problem('document_conflict', { id });
    case 'refused':
      throw problem('document_refused', { id, reason: result.reason });
    case 'unknown': {
      const found = await store.get(id);
      if (found !== undefined && isDeepStrictEqual(contentOf(found), contentOf(doc))) {
        return found._rev;
      }
      throw problem('write_unknown', { id, cause: result.cause });
    }
  }
}

/**
 * Deletes one revision; resolves with that of the tombstone, or with undefined where the answer was lost and the
 * document is gone. @throws TwsError `document_conflict`, `document_refused`, `write_unknown`
 */
export async function removeDocument(
  store: Store,
  id: string,
  rev: string,
): Promise<string | undefined> {
  const result = await store.remove(id, rev);
  switch (result.kind) {
    case 'written':
      return result.rev;
    case 'conflict':
      throw problem('document_conflict', { id });
    case 'refused':
      throw problem('document_refused', { id, reason: result.reason });
    case 'unknown':
      if ((await store.get(id)) === undefined) return undefined;
      throw problem('write_unknown', { id, cause: result.cause });
  }
}

/** Documents whose ids people choose. One that is there with such an id can still be changed. */
const named: readonly unknown[] = [
  'job',
  'task',
  'flow',
  'schedule',
  'hook',
  'queue-control',
  'notify',
];
const isNamed = ({ type }: NewDocument): boolean => named.includes(type);

function contentOf(doc: NewDocument): unknown {
  const { _rev, ...content } = doc;
  return content;
}
