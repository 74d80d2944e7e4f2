import { createHash, randomUUID } from 'node:crypto';
import { grantRate } from '../decide/compete/rates.js';
import { canonical } from '../model/canonical.js';
import { rateDocumentSchema, type RateDocument } from '../model/rate.js';
import type { LiveJob } from '../model/job.js';
import { ownerOf } from '../model/task.js';
import { workOptionsOf, type WorkRate } from '../model/work.js';
import type { Store } from '../store/store.js';

/*
 * How much of work that workers take is limited: the count is a document that all servers change by
 * compare-and-set, as engines do with rates of what they begin.
 */

/** When this process first saw which revision of a document (epoch ms), by the id of the document. */
export type RateSightings = Map<string, readonly { readonly gen: number; readonly at: number }[]>;

/** So often a place is asked for that others take meanwhile. */
const mostTries = 10;
/** So many sightings of a document are kept. */
const mostSightings = 2_000;

/** A place that is asked for. `owner`: whose jobs share the windows. */
export type PlaceAsked = { readonly rate: WorkRate; readonly owner: string; readonly for: string };

/** The place that a step needs before a worker has it; undefined: nothing limits it. */
export function placeAsked(job: LiveJob, signal: string): PlaceAsked | undefined {
  const step = job.steps.find((one) => one.state === '$$waiting' && one.signal === signal);
  const { rate } = workOptionsOf(step?.params);
  if (rate === undefined || step === undefined) return undefined;
  return { rate, owner: ownerOf(job), for: JSON.stringify([job._id, step.path, signal]) };
}

/** Differs for rates of which one may have a place when the other has none. */
export function rateText({ rate: { key, limit, per }, owner }: PlaceAsked): string {
  return canonical([owner, key, limit, per]);
}

/** Whether a step may be given to a worker now; if so, its place in the window is taken. */
export async function takePlace(
  store: Store,
  sightings: RateSightings,
  { rate: { key, limit, per }, owner, for: whose, now }: PlaceAsked & { readonly now: number },
): Promise<boolean> {
  const text = canonical(['work', key, owner]);
  const _id = `rate:${createHash('sha256').update(text).digest('hex')}`;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const stored = await store.get(_id);
    const read = rateDocumentSchema.safeParse(stored);
    const former: RateDocument | undefined = read.success ? read.data : undefined;
    const gen = Number.parseInt(stored?._rev ?? '0', 10);
    see(sightings, _id, gen, now);
    const perMs = Math.max(per, former?.per ?? 0);
    const nonce = randomUUID();
    const view = {
      ...{ now, gen: gen + 1, by: nonce.slice(0, 8), perMs },
      seenAt: (wanted: number) =>
        sightings.get(_id)?.find((one) => one.gen >= wanted && one.gen > 0)?.at,
    };
    const ask = { for: whose, limit, perMs: per, isAsking: true };
    const { grants, held } = grantRate(former?.grants ?? [], [ask], view);
    if (!held.has(whose)) return false;
    const rev = stored === undefined ? {} : { _rev: stored._rev };
    const of = `work ${JSON.stringify(key)}`;
    const window = { limit, per: perMs, per_at: now };
    const doc = { _id, ...rev, type: 'rate', of, owner, ...window, grants: [...grants] };
    const result = await store.write({ ...doc, born: former?.born ?? nonce, nonce });
    if (result.kind === 'written') {
      see(sightings, _id, gen + 1, now);
      return true;
    }
    if (result.kind !== 'conflict') return false;
  }
  return false;
}

function see(sightings: RateSightings, id: string, gen: number, at: number): void {
  const seen = sightings.get(id) ?? [];
  const last = seen.at(-1);
  if (last !== undefined && last.gen >= gen) return;
  sightings.set(id, [...seen, { gen, at }].slice(-mostSightings));
}
