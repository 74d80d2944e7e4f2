import type { Child } from '../../decide/world.js';
import { continuationOf, continues, isMadeBy } from '../../reading/parent.js';
import { failure } from '../../model/failures.js';
import { type FinalJob, isFinal, isFinalState } from '../../model/job.js';
import { parseDocument } from '../../reading/parse.js';
import { exits } from '../../model/step.js';
import type { Store } from '../../store/store.js';
import { bigResult } from '../attachments/large-results.js';
import type { Retry } from '../retry.js';

type Jobs = Pick<Store, 'get' | 'isDeleted'>;

/** Those jobs as they are now, by one request; what they lead to is read one by one. */
export async function readTogether(
  store: Store,
  ids: readonly string[],
  retry: Retry,
): Promise<Jobs> {
  const docs = await retry(() => store.getMany(ids));
  const asked = new Set(ids);
  return {
    get: (id) =>
      docs !== undefined && asked.has(id) ? Promise.resolve(docs.get(id)) : store.get(id),
    isDeleted: store.isDeleted,
  };
}

/** A job that this one has made, as it is now. */
export async function findChild(
  store: Jobs,
  id: string,
  job: Parameters<typeof isMadeBy>[1],
  retry: Retry,
): Promise<Child> {
  const answer = await retry(async () => ({ doc: await store.get(id) }));
  // The engine ends: nothing will be written any more.
  if (answer === undefined) return { kind: 'live' };
  const { doc } = answer;
  if (doc === undefined) return absentChild(store, id, retry);
  if (!isMadeBy(doc, job)) return { kind: 'foreign' };
  if (!isFinalState(doc['state'])) return { kind: 'live' };
  const parsed = parseDocument(doc);
  const isEnded = parsed.kind === 'job' && parsed.ok && isFinal(parsed.value);
  if (!isEnded) return { kind: 'live' };
  const ended = await lastOf(store, parsed.value, retry);
  if (ended === undefined) return { kind: 'live' };
  const big = bigResult(ended.result);
  return { kind: 'final', job: ended, ...(big === undefined ? {} : { big }) };
}

/** A child that is not there: deleted, or never stored. */
async function absentChild(store: Jobs, id: string, retry: Retry): Promise<Child> {
  const deleted = await retry(() => store.isDeleted(id));
  return { kind: 'absent', ...(deleted === true ? { deleted } : {}) };
}

/**
 * The last of the jobs as which an ended one went on; undefined when it has not ended. One whose
 * continuation is gone has failed.
 */
async function lastOf(store: Jobs, first: FinalJob, retry: Retry): Promise<FinalJob | undefined> {
  const passed = new Set<string>();
  let last = first;
  for (let id = continuationOf(last); id !== undefined; id = continuationOf(last)) {
    passed.add(last._id);
    const next = id;
    const answer = await retry(async () => ({ doc: await store.get(next) }));
    if (answer === undefined) return undefined;
    const { doc } = answer;
    if (doc === undefined || !continues(doc, last) || passed.has(next)) {
      const why = failure('ContinuationMissing', { job: last._id, next });
      return { ...last, exit: exits.failed, failure: why };
    }
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job' || !parsed.ok || !isFinal(parsed.value)) return undefined;
    last = parsed.value;
  }
  return last;
}
