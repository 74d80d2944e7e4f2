import { receive } from '../decide/requests/command.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import type { Failure } from '../model/step.js';
import type { Store } from '../store/store.js';
import { offerWorld, withoutEngine, type OfferOptions } from './offering.js';
import { knowJob, liveJobIn } from '../reading/known-jobs.js';
import { workIn, type WorkerStep } from './work.js';
import { writeDocument } from './writes.js';

/** So often an answer is put into a job that others change meanwhile; then an engine does it. */
const mostTries = 3;

/** What came of the work. */
export type WorkAnswer = { readonly data: unknown } | { readonly failure: Failure };

/** Longer answers are taken by engines, which keep them beside the document. In characters. */
const longestAnswer = 16_384;

/**
 * Stores what a worker answers. Where no engine is needed for what follows the job is written with it,
 * and returned; else an engine takes it into the job. One answer counts for each lease.
 * @throws TwsError `document_conflict` when it was answered before
 */
export async function answerWork(
  store: Store,
  work: WorkerStep,
  answer: WorkAnswer,
  options: OfferOptions,
): Promise<StoredDocument | undefined> {
  const { name, ...signal } = signalOf(work, answer);
  const directly = await answerDirectly(store, work, { ...signal, name }, options);
  if (directly !== undefined) return directly;
  // The job may have changed since it was read, and would never take what was meant for a lease that is over.
  const now = await store.get(work.job._id);
  if (now === undefined || workIn(now, name) === undefined) {
    throw problem('document_conflict', { id: signal._id });
  }
  await writeDocument(store, { ...signal, name });
  return undefined;
}

function signalOf({ job: { _id: job }, step }: WorkerStep, answer: WorkAnswer) {
  const { signal: name = '', worker } = step;
  const by = worker === undefined ? {} : { by: worker };
  const _id = `signal:${job}:${name.replace('/', '-')}`;
  return { _id, type: 'signal' as const, job, name, ...answer, ...by };
}

/** Writes the job with the answer in it; undefined: an engine has to. */
async function answerDirectly(
  store: Store,
  { job: given, step }: WorkerStep,
  signal: ReturnType<typeof signalOf>,
  options: OfferOptions,
): Promise<StoredDocument | undefined> {
  if (JSON.stringify(signal).length > longestAnswer) return undefined;
  const known = await offerWorld(store, options);
  let doc: StoredDocument | undefined = given;
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const held = doc === undefined ? undefined : workIn(doc, step.signal ?? '');
    if (held === undefined) throw problem('document_conflict', { id: signal._id });
    const job = liveJobIn(held.job);
    const taken = job && receive(job, { ...signal, _rev: '' }, options.now);
    if (taken?.kind !== 'applied') return undefined;
    const next = await withoutEngine(store, taken.job, known, options);
    if (next === undefined) return undefined;
    knowJob(next);
    const result = await store.write(next);
    if (result.kind === 'written') return { ...next, _rev: result.rev };
    doc = await store.get(given._id);
    if (result.kind === 'conflict') continue;
    // The answer of the database may be all that was lost. Else the signal becomes a document of its own.
    return doc !== undefined && hasTaken(doc, signal._id) ? doc : undefined;
  }
  return undefined;
}

/** Whether a signal is in a job. */
function hasTaken({ steps }: StoredDocument, signal: string): boolean {
  return (
    Array.isArray(steps) && steps.some((step) => isObject(step) && step['signal_id'] === signal)
  );
}
