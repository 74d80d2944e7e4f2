import { addTo } from '../model/grouped.js';
import type { StoredDocument } from '../model/document.js';
import { asVersion, chooseVersion } from '../model/flow-versions.js';
import { readUnique, type Unique } from '../model/unique.js';
import { keysFor, ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';

type AnyJob = Readonly<Record<string, unknown>>;

/**
 * Returns what makes jobs unique that are about to be submitted: their own `unique`, or that of their flow as it
 * is stored now. What is not valid is left to the engine, which tells of it in the job.
 */
export async function uniquesOf<J extends AnyJob>(
  store: Store,
  jobs: readonly J[],
): Promise<ReadonlyMap<J, Unique>> {
  const found = new Map<J, Unique>();
  const keys = [...new Set(jobs.flatMap(flowKeys))];
  const flows = new Map<string, StoredDocument[]>();
  if (keys.length > 0) {
    const rows = await store.view('flows', { keys, includeDocs: true });
    for (const { key, doc } of rows) {
      if (doc !== undefined) addTo(flows, key, doc);
    }
  }
  for (const job of jobs) {
    const docs = flowKeys(job).flatMap((key) => flows.get(key) ?? []);
    const own = docs.filter((doc) => ownerOf(doc) === ownerOf(docs[0] ?? {}));
    const choice = chooseVersion(own, { version: asVersion(job['flow_version']) });
    const ofFlow = choice.kind === 'chosen' ? choice.doc['unique'] : undefined;
    const unique = readUnique(job['unique'] ?? ofFlow);
    if (unique !== undefined) found.set(job, unique);
  }
  return found;
}

/** The keys of the flow whose `unique` counts, the owner's first. */
function flowKeys(job: AnyJob): readonly string[] {
  const { flow, tasks, unique } = job;
  if (typeof flow !== 'string' || tasks !== undefined || unique !== undefined) return [];
  return keysFor(flow, ownerOf(job));
}
