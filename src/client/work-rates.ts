import { createHash, randomUUID } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { grantRate } from '../decide/compete/rates.js';
import { canonical } from '../model/canonical.js';
import { rateDocumentSchema, type RateDocument } from '../model/rate.js';
import type { LiveJob } from '../model/job.js';
import { ownerOf } from '../model/task.js';
import { workOptionsOf, type WorkRate } from '../model/work.js';
import { createKeyedQueue, type KeyedQueue } from '../keyed-queue.js';
import { createLru } from '../memo.js';
import { createSightings, type Sightings } from '../store/rate-sightings.js';
import type { Store } from '../store/store.js';

/*
 * How much of work that workers take is limited: the count is a document that all servers change by
 * compare-and-set, as engines do with rates of what they begin.
 */

/** So often a place is asked for that others take meanwhile. */
const mostTries = 10;
/** So many documents are kept in mind. */
const remembered = 2_000;

/**
 * The documents of a database, by their ids: what this process saw of them, and who asks in it: those of one
 * request would be in each other's way, and whoever is first in line might come last.
 */
type Rates = { readonly seen: LRUCache<string, Sightings>; readonly asking: KeyedQueue };

const ofStores = new WeakMap<Store, Rates>();

function ratesOf(store: Store): Rates {
  const rates = ofStores.get(store) ?? {
    ...{ seen: createLru<Sightings>(remembered), asking: createKeyedQueue() },
  };
  ofStores.set(store, rates);
  return rates;
}

function sightingsOf({ seen }: Rates, id: string, now: () => number): Sightings {
  const sightings = seen.get(id) ?? createSightings(now);
  seen.set(id, sightings);
  return sightings;
}

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

function rateIn(stored: unknown): RateDocument | undefined {
  const read = rateDocumentSchema.safeParse(stored);
  return read.success ? read.data : undefined;
}

/** Whether a step may be given to a worker now; if so, its place in the window is taken. */
export function takePlace(store: Store, asked: PlaceAsked, now: () => number): Promise<boolean> {
  const text = canonical(['work', asked.rate.key, asked.owner]);
  const _id = `rate:${createHash('sha256').update(text).digest('hex')}`;
  return ratesOf(store).asking.take(_id, () => placeIn(store, _id, asked, now));
}

async function placeIn(
  store: Store,
  _id: string,
  { rate: { key, limit, per }, owner, for: whose }: PlaceAsked,
  now: () => number,
): Promise<boolean> {
  const sightings = sightingsOf(ratesOf(store), _id, now);
  const sent = now();
  for (let tries = 0; tries < mostTries; tries += 1) {
    const stored = await store.get(_id);
    const former = rateIn(stored);
    const gen = Number.parseInt(stored?._rev ?? '0', 10);
    sightings.read(former?.born, gen);
    const perMs = Math.max(per, former?.per ?? 0);
    const nonce = randomUUID();
    const view = {
      ...{ now: sent, gen: gen + 1, by: nonce.slice(0, 8), perMs },
      seenAt: (wanted: number) => sightings.first(wanted),
    };
    const ask = { for: whose, limit, perMs: per, isAsking: true };
    const { grants, held } = grantRate(former?.grants ?? [], [ask], view);
    if (!held.has(whose)) return false;
    const rev = stored === undefined ? {} : { _rev: stored._rev };
    const of = `work ${JSON.stringify(key)}`;
    const window = { limit, per: perMs, per_at: sent };
    const born = former?.born ?? nonce;
    const doc = { _id, ...rev, type: 'rate', of, owner, ...window, grants: [...grants] };
    const result = await store.write({ ...doc, born, nonce });
    if (result.kind === 'written') {
      sightings.wrote(born, gen + 1, sent);
      return true;
    }
    if (result.kind !== 'conflict') return false;
  }
  return false;
}
