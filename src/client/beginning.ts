import { randomUUID } from 'node:crypto';
import { createLru } from '../memo.js';
import type { Job } from '../model/job.js';
import type { OfferPlace } from '../model/work.js';
import { sizeProblem } from '../model/size.js';
import { parseDocument } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import {
  formKeyOf,
  begunFormOf,
  type OneOfForm,
  type BegunForm,
  type Sample,
} from './begun-forms.js';
import { knowJob } from '../reading/known-jobs.js';
import {
  nextPlace,
  offerWorld,
  withoutEngine,
  type OfferOptions,
  type OfferWhen,
  type OfferWorld,
} from './offering.js';

type Unbegun = { readonly _id: string; readonly [key: string]: unknown };

/** New jobs as they are best stored: begun, with their work offered, where that takes no engine. */
export async function beginWork<J extends { readonly _id: string }>(
  store: Store,
  jobs: readonly J[],
  options: OfferOptions,
): Promise<readonly J[]> {
  const known = await offerWorld(store, options);
  const begun: J[] = [];
  for (const job of jobs) {
    const next = await begunJob(store, job, known, options);
    if (next !== undefined) knowJob(next);
    const { _rev, ...document } = { _rev: '', ...(next ?? job) };
    begun.push(document as unknown as J);
  }
  return begun;
}

async function begunJob(
  store: Store,
  job: Unbegun,
  known: OfferWorld,
  options: OfferOptions,
): Promise<Job | undefined> {
  const { now } = options;
  const form = await knownForm(store, job, options);
  if (form !== undefined && known.isPlain) {
    const one = { id: job._id, now, place: nextPlace(now) };
    return form(job, one) as unknown as Job;
  }
  return begunByRules(store, job, known, { now });
}

async function begunByRules(
  store: Store,
  job: Unbegun,
  known: OfferWorld,
  when: OfferWhen,
): Promise<Job | undefined> {
  const parsed = parseDocument({ ...job, _rev: '' });
  if (parsed.kind !== 'job' || !parsed.ok) return undefined;
  return withoutEngine(store, parsed.value, known, when);
}

/** Keys that were asked for before: what is enqueued once needs no form. Of so many is remembered that they were. */
const asked = createLru<true>(1_000);

/** The form of such jobs, while a feed tells of every change of what it depends on. */
async function knownForm(
  store: Store,
  job: Unbegun,
  options: OfferOptions,
): Promise<BegunForm | undefined> {
  const { kept } = store;
  const key = kept.isFollowing() ? formKeyOf(job) : undefined;
  if (key === undefined || sizeProblem({ ojs: job['ojs'] }) !== undefined) return undefined;
  if (!asked.has(key)) {
    asked.set(key, true);
    return undefined;
  }
  const question = `form ${String(options.notifies === true)} ${key}`;
  const { form } = await kept.answer(question, {
    read: () => readForm(store, job, options),
    madeOf: ({ ids }) => ids,
  });
  return form;
}

type ReadForm = { readonly form: BegunForm | undefined; readonly ids: readonly string[] };

async function readForm(store: Store, job: Unbegun, options: OfferOptions): Promise<ReadForm> {
  const { now } = options;
  // What was read before the question was asked may have changed since.
  const known = await offerWorld(store, options);
  const first = await sampleOf(store, job, known, now);
  const second = first && (await sampleOf(store, job, known, now + sampleMs));
  const form = first && second && begunFormOf(first, second);
  return { form, ids: [...known.madeOf] };
}

/** The samples are so far from each other that no other time is that far from one of theirs, ms. */
const sampleMs = 7_777_777;

/** What the rules make of the job under another id; undefined: an engine has to, or several steps are offered. */
async function sampleOf(
  store: Store,
  job: Unbegun,
  known: OfferWorld,
  now: number,
): Promise<Sample | undefined> {
  const one: OneOfForm = { id: randomUUID(), now, place: { at: now, id: randomUUID() } };
  let places = 0;
  const place = (): OfferPlace => {
    places += 1;
    return one.place;
  };
  const begun = await begunByRules(store, { ...job, _id: one.id }, known, { now, place });
  return begun === undefined || places !== 1 ? undefined : { one, job: begun };
}
