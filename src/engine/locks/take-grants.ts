import { randomUUID } from 'node:crypto';
import {
  graceOf,
  grantRate,
  isNewWindow,
  longestWindow,
  type LongestWindow,
  type RateOutcome,
  type RateView,
  unitedGrants,
} from '../../decide/compete/rates.js';
import type { RateRequest } from '../../decide/queries.js';
import type { StoredDocument } from '../../model/document.js';
import { grantSchema, type Grant, type RateDocument } from '../../model/rate.js';
import { winnerFirst } from '../../replicas/resolve/leaf-revisions.js';
import type { Store } from '../../store/store.js';
import type { Retry } from '../retry.js';
import type { ListedAsk } from './rate-lines.js';
import type { Sightings } from '../../store/rate-sightings.js';

/** What taking grants needs of an engine. */
export type TakingParts = {
  readonly store: Pick<Store, 'get' | 'leaves' | 'write' | 'remove'>;
  readonly retry: Retry;
  readonly life: AbortSignal;
  /** Epoch ms. */
  readonly now: () => number;
  /** Ms of a clock that never jumps. */
  readonly steady: () => number;
  readonly copies: () => number;
  /** Waits before a write that others were faster with is tried again. */
  readonly rest: (tries: number) => Promise<void>;
};

/** What was stored; grants are used until `usableTo`, by the clock that never jumps. */
export type TakenGrants =
  | { readonly kind: 'done'; readonly outcome: RateOutcome; readonly usableTo: number }
  | { readonly kind: 'refused'; readonly reason: string };

/** What one request is about. */
type Taking = {
  readonly id: string;
  /** What is limited, as the document tells it. */
  readonly about: Pick<RateDocument, 'of' | 'owner' | 'value' | 'limit'>;
  readonly sightings: Sightings;
  readonly asksOf: () => readonly ListedAsk[];
  /** New grants, by the write of which it is not known whether it took place: they do not count (R15). */
  readonly unsure: Map<string, ReadonlySet<string>>;
  /** A longer grace than the usual one, ms: the last write took too long for that. */
  readonly graceMs?: number;
};

/** So long the grace may become, ms. */
const longestGraceMs = 60_000;

/** Stores the grants that are free for those that ask, all in one write. */
export async function takeGrants(
  parts: TakingParts,
  sightings: Sightings,
  asksOf: () => readonly ListedAsk[],
): Promise<TakenGrants> {
  const [first] = asksOf();
  if (first === undefined) return { kind: 'done', outcome: nothing, usableTo: 0 };
  const { id, of, owner, value, limit } = first.request;
  const about = {
    ...{ of, limit },
    ...(owner === undefined ? {} : { owner }),
    ...(value === undefined ? {} : { value }),
  };
  let taking: Taking = { id, about, sightings, asksOf, unsure: new Map() };
  for (let tries = 0; ; tries += 1) {
    if (tries > 0) await parts.rest(tries);
    const tried = await tryOnce(parts, taking);
    if (tried.kind === 'again') continue;
    if (tried.kind === 'refused' || tried.lateMs === undefined) return tried;
    // What was stored too late to be used in time is asked for again, with more time (R13).
    taking = { ...taking, graceMs: Math.min(longestGraceMs, 2 * tried.lateMs) };
  }
}

/** Whether one that asks would get no grant, as far as a look at the document tells. */
export async function looksFull(
  parts: TakingParts,
  sightings: Sightings,
  { id, for: whose, limit, perMs }: RateRequest,
): Promise<boolean> {
  const doc = await parts.retry(() => parts.store.get(id));
  if (doc === undefined) return false;
  const view = { ...viewOf(parts, sightings), gen: generationOf(doc) + 1, perMs, by: '' };
  const asks = [{ for: whose, limit, perMs, isAsking: true }];
  return !grantRate(grantsIn(doc), asks, view).isChanged;
}

const nothing: RateOutcome = {
  ...{ grants: [], isChanged: false, held: new Set<string>(), fresh: new Set<string>() },
  ...{ until: new Map<string, number>(), ready: [] },
};

/** `lateMs`: so long it took, more than the grace. */
type Tried =
  | (Extract<TakenGrants, { kind: 'done' }> & { readonly lateMs?: number })
  | Extract<TakenGrants, { kind: 'refused' }>
  | { readonly kind: 'again' };

async function tryOnce(parts: TakingParts, taking: Taking): Promise<Tried> {
  const { store, retry, life, steady } = parts;
  const { id, about, sightings, unsure } = taking;
  const read = await retry(() => leavesOf(parts, id));
  // The engine ends: nothing will be written any more.
  if (read === undefined || life.aborted) return { kind: 'done', outcome: nothing, usableTo: 0 };
  const [winner, ...others] = read;
  if (winner !== undefined && winner['type'] !== 'rate') {
    return { kind: 'refused', reason: `${id} is no document of a rate limit` };
  }
  const gen = generationOf(winner) + 1;
  const former = bornOf(winner);
  sightings.read(former, gen - 1);
  const asks = asksIn(taking);
  const nonce = randomUUID();
  const longest = longestWindow(asks, storedWindow(winner), parts.now());
  const { perMs } = longest;
  const view = { ...viewOf(parts, sightings), gen, perMs, by: nonce.slice(0, 8) };
  const outcome = grantRate(countingIn(read, unsure), asks, view);
  const isTidy = others.length + unsure.size === 0 && isTold(longest, winner);
  if (!outcome.isChanged && isTidy) return { kind: 'done', outcome, usableTo: 0 };
  const born = former ?? nonce;
  const grants = [...outcome.grants];
  const window = { per: perMs, per_at: longest.at };
  const fields = { _id: id, type: 'rate' as const, ...about, ...window, grants, born, nonce };
  const sent = steady();
  const result = await store.write({ ...winner, ...fields });
  if (result.kind === 'refused') return result;
  if (result.kind === 'conflict') return { kind: 'again' };
  for (const leaf of others) await store.remove(id, leaf._rev);
  if (!(await isStored(parts, fields, result.kind === 'written'))) {
    unsure.set(view.by, outcome.fresh);
    return { kind: 'again' };
  }
  unsure.clear();
  sightings.wrote(born, gen, sent);
  const usableTo = sent + graceIn(asks);
  const isLate = outcome.isChanged && steady() > usableTo;
  return { kind: 'done', outcome, usableTo, ...(isLate ? { lateMs: steady() - sent } : {}) };
}

/** Those that ask, and for how long. */
function asksIn({ asksOf, graceMs }: Taking): readonly ListedAsk[] {
  return graceMs === undefined ? asksOf() : asksOf().map((one) => ({ ...one, graceMs }));
}

/** Until then, from when the write was sent, a grant of these is used (ms). */
function graceIn(asks: readonly ListedAsk[]): number {
  return asks.reduce(
    (least, { perMs, graceMs = 0 }) => Math.min(least, Math.max(graceOf(perMs), graceMs)),
    Infinity,
  );
}

/** Whether a write took place; of several copies all have to say the same. */
async function isStored(
  parts: TakingParts,
  { _id: id, nonce }: Pick<RateDocument, '_id' | 'nonce'>,
  isWritten: boolean,
): Promise<boolean> {
  if (isWritten && parts.copies() <= 1) return true;
  const leaves = await parts.retry(() => leavesOf(parts, id));
  return leaves?.length === 1 && leaves[0]?.['nonce'] === nonce;
}

/** All leaf revisions of a document, the winner first. */
async function leavesOf(
  { store, copies }: TakingParts,
  id: string,
): Promise<readonly StoredDocument[]> {
  if (copies() > 1) return winnerFirst(await store.leaves(id, copies()));
  const doc = await store.get(id);
  return doc === undefined ? [] : [doc];
}

/** What an engine knows of the grants now. */
function viewOf(
  { now, steady }: TakingParts,
  sightings: Sightings,
): Pick<RateView, 'now' | 'seenAt'> {
  const seenAt = (gen: number): number | undefined => {
    const at = sightings.first(gen);
    return at === undefined ? undefined : now() - (steady() - at);
  };
  return { now: now(), seenAt };
}

/** The grants in all copies, without those of writes that may not have taken place (R15). */
function countingIn(copies: readonly StoredDocument[], unsure: Taking['unsure']): readonly Grant[] {
  const isUnsure = (grant: Grant): boolean =>
    unsure.get(grant.by ?? '')?.has(grant.for ?? '') === true;
  return unitedGrants(copies.map((doc) => grantsIn(doc).filter((grant) => !isUnsure(grant))));
}

/** The longest window that a document tells of; without a time nobody knows who asked for it. */
function storedWindow(doc: StoredDocument | undefined): LongestWindow {
  const perMs = Number(doc?.['per']);
  const at = Number(doc?.['per_at']);
  return perMs > 0 && at > 0 ? { perMs, at } : { perMs: 0, at: 0 };
}

/** Whether others know the window already; where there is no document nothing depends on it. */
function isTold(longest: LongestWindow, doc: StoredDocument | undefined): boolean {
  return doc === undefined || !isNewWindow(longest, storedWindow(doc));
}

/** What tells a document from others of its id. */
function bornOf(doc: StoredDocument | undefined): string | undefined {
  return typeof doc?.['born'] === 'string' ? doc['born'] : undefined;
}

/** The number of a revision; 0: there is no document. */
function generationOf(doc: StoredDocument | undefined): number {
  return doc === undefined ? 0 : Number.parseInt(doc._rev, 10);
}

/** The grants in a document; what somebody wrote there that is none is left out. */
function grantsIn({ grants }: StoredDocument): readonly Grant[] {
  const list: readonly unknown[] = Array.isArray(grants) ? grants : [];
  return list.flatMap((one) => {
    const read = grantSchema.safeParse(one);
    return read.success ? [read.data] : [];
  });
}
