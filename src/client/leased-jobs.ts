import type { LRUCache } from 'lru-cache';
import { createLru } from '../memo.js';
import type { StoredDocument } from '../model/document.js';
import type { KeptAnswers } from '../store/kept-answers.js';
import type { Store } from '../store/store.js';

/*
 * The jobs that this process leased, as it stored them: who answers need not have them read. What is written
 * upon one that has changed since is a conflict, and read then.
 */

/** Jobs that are kept at most, and how long they may be, in characters. */
const mostLeased = 2_000;
const longestLeased = 16_384;

const ofStores = new WeakMap<KeptAnswers, LRUCache<string, StoredDocument>>();

/** Keeps a job of which a step was just leased. */
export function keepLeased({ kept }: Pick<Store, 'kept'>, job: StoredDocument): void {
  const jobs = ofStores.get(kept) ?? createLru(mostLeased);
  ofStores.set(kept, jobs);
  if (JSON.stringify(job).length <= longestLeased) jobs.set(job._id, job);
  else jobs.delete(job._id);
}

/** A job as it was when this process leased a step of it. */
export function leasedJob({ kept }: Pick<Store, 'kept'>, id: string): StoredDocument | undefined {
  return ofStores.get(kept)?.get(id);
}
