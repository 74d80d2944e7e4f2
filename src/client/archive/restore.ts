import { problem } from '../../errors.js';
import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import type { DocumentCopy } from '../../store/copies.js';
import type { Store } from '../../store/store.js';
import { writeDocument } from '../writes.js';
import type { ArchivedJobWhole } from './archived-jobs.js';

/** `stored`: jobs that were put back; `there`: those that were back already. */
export type RestoredJob = { readonly stored: readonly string[]; readonly there: readonly string[] };

/**
 * Puts an archived job back under its id, with its child jobs, notifications and attachments; locks, requests
 * and signals are over. All ids are looked at before the first is written, and the job itself comes last, so a
 * restore that was broken off can be repeated.
 * @throws TwsError `restore_taken` when another document has one of the ids
 */
export async function restoreJob(
  store: Store,
  { docs, job, archive }: ArchivedJobWhole,
  now: number,
): Promise<RestoredJob> {
  const jobs = docs.filter(({ type }) => type === 'job').toReversed();
  const there = await store.getMany(jobs.map(({ _id }) => _id));
  for (const doc of jobs) {
    const found = there.get(doc._id);
    if (found !== undefined && !isSame(found, doc)) {
      throw problem('restore_taken', { job, id: doc._id });
    }
  }
  const missing = jobs.filter(({ _id }) => !there.has(_id));
  for (const doc of missing) {
    const { _rev, _revisions, ...content } = doc;
    await writeDocument(store, { ...content, restored: { at: now, from: archive } });
  }
  return { stored: missing.map(({ _id }) => _id), there: [...there.keys()] };
}

/** Whether it is the archived document, put back before. */
function isSame(found: StoredDocument, archived: DocumentCopy): boolean {
  return canonical(contentOf(found)) === canonical(contentOf(archived));
}

function contentOf(doc: StoredDocument): unknown {
  const { _rev, _revisions, _attachments: files, restored, ...content } = doc;
  return [content, Object.keys(files ?? {}).sort()];
}
