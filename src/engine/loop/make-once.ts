import type { Made } from '../../decide/schedules/schedule-world.js';
import type { StoredDocument } from '../../model/document.js';
import type { FollowParts } from './followed-parts.js';

type NewDocument = { readonly _id: string; readonly [key: string]: unknown };

/**
 * Stores a document whose id follows from what made it, unless it is there already: another engine was as
 * fast, or one died after it. `isSame` says whether what is there is that document. Resolves with what
 * became of it, with `isNew` when this call stored it (`of`: for what it is made, in words); undefined: the engine ends.
 */
export async function makeOnce(
  { store, retry, documentLimit, log }: FollowParts,
  doc: NewDocument,
  { of, isSame }: { readonly of: string; readonly isSame: (there: StoredDocument) => boolean },
): Promise<(Made & { readonly isNew?: true }) | undefined> {
  const result = await retry(async () => {
    const stored = await store.write(doc, documentLimit.bytes);
    if (stored.kind === 'unknown') throw new Error(stored.cause);
    return stored;
  });
  if (result === undefined) return undefined;
  const { _id: id } = doc;
  switch (result.kind) {
    case 'written':
      return { kind: 'made', isNew: true };
    case 'refused':
      log.warn({ document: id }, `Document ${id} cannot be stored: ${result.reason}`);
      return { kind: 'refused', reason: result.reason };
    case 'conflict': {
      // It may have ended, and have been removed since.
      const there = await retry(() => store.get(id));
      if (there === undefined || isSame(there)) return { kind: 'made' };
      return { kind: 'refused', reason: takenText(of) };
    }
  }
}

function takenText(of: string): string {
  return `Another document, which this ${of} did not make, has the id of the job.`;
}
