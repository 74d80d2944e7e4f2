import { addTo } from '../model/grouped.js';
import { readLimitKey, shownKey, type LimitName } from '../decide/compete/limits.js';
import type { PermitLine } from '../decide/intent.js';
import type { RateRequest } from '../decide/queries.js';
import { isRateId, rateDocumentSchema, type Grant } from '../model/rate.js';
import { ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import { heldPermits, type HeldPermit } from './permits.js';
import { countingGrants } from './rates.js';
import { limitWaiters, type LimitWaiter, type LinePlace } from './limit-waiters.js';

/** A job that holds a permit, or began under a rate. */
export type LimitHolder = {
  readonly job: string;
  /** Path of the step whose attempt has it. */
  readonly step?: string;
  /** Epoch ms. */
  readonly since: number;
};

/** A job in line; `since`: when it began, absent for one that has not: documents do not tell when it came. */
export type LimitInLine = LinePlace & { readonly job: string; readonly since?: number };

/** A limit that jobs hold or wait for. */
export type LimitFacts = {
  readonly kind: 'concurrency' | 'rate';
  /** How sentences name it. */
  readonly title: string;
  /** What has it; `name`: limits of that name share it. */
  readonly of: 'flow' | 'task' | 'queue' | 'name';
  readonly name: string;
  /** Whose it is; a queue has no owner. */
  readonly owner?: string;
  /** The value of its key, as JSON, or a hash. */
  readonly key?: string;
  /** Absent where a document of an earlier version does not tell. */
  readonly limit?: number;
  /** Of a rate: the length of its window, ms. */
  readonly per?: number;
  /** Permits that are held; of a rate: how many began in the window. */
  readonly held: number;
  /** The longest first, of a rate the latest first; without the jobs of other owners, and so many at most. */
  readonly holders: readonly LimitHolder[];
  readonly waiting: number;
  /** Those that wait, the first one first; without the jobs of other owners, and so many at most. */
  readonly line: readonly LimitInLine[];
};

/** The limits in use; `more`: so many others are; `partly`: there are more documents than were looked at. */
export type LimitsInUse = {
  readonly limits: readonly LimitFacts[];
  readonly more: number;
  readonly partly: boolean;
};

export type LimitsQuery = {
  /** Only limits of these owners, and those that their jobs hold or wait for; other jobs are counted, not named. */
  readonly owners?: readonly string[] | undefined;
  /** So many limits at most; default 100. */
  readonly most?: number | undefined;
  /** Only limits of a flow, a task or a queue of this name, and those that have it as their name. */
  readonly name?: string | undefined;
  /** So many jobs that hold each, and so many that wait, are named at most; default 10. */
  readonly named?: number | undefined;
};

/** So many documents of each kind are looked at. */
const mostLooked = 1_000;
const usualMost = 100;
const usualNamed = 10;
/** Of so many that began under rates it is found out whose they are. */
const mostOwned = 1_000;

/** The limits that jobs hold or wait for: first those with the longest line. */
export async function limitsInUse(
  store: Store,
  { owners, most = usualMost, name: wanted, named = usualNamed }: LimitsQuery = {},
): Promise<LimitsInUse> {
  const now = Date.now();
  const permits = await usedPermits(store);
  const rates = await usedRates(store, now, owners === undefined ? named : undefined);
  const waiters = await limitWaiters(store, now);
  const uses = [...permits.uses, ...rates.uses];
  const known = new Map(uses.map((use) => [use.id, use]));
  for (const { id, ...asked } of waiters.asked) {
    const use = known.get(id) ?? emptyUse(id, asked);
    known.set(id, { ...use, ...numbersOf(asked), line: asked.line });
  }
  const isSeen = (owner: string | undefined): boolean =>
    owners === undefined || (owner !== undefined && owners.includes(owner));
  const seen = [...known.values()]
    .filter(({ name }) => wanted === undefined || name?.name === wanted)
    .filter(
      ({ name, held, line }) =>
        isSeen(name?.owner) || [...held, ...line].some((one) => isSeen(one.owner)),
    )
    .sort(byLine);
  return {
    limits: seen.slice(0, most).map((use) => factsOf(use, isSeen, named)),
    more: Math.max(0, seen.length - most),
    partly: permits.partly || rates.partly || waiters.partly,
  };
}

type Name = {
  readonly of: LimitFacts['of'];
  readonly name: string;
  readonly owner?: string | undefined;
  readonly at?: LimitName['at'];
};

/** `owner`: of its job, as far as that is there. */
type Holding = LimitHolder & { readonly owner: string | undefined };

/** A limit and all that was found out of it; `id`: the key of its permits, or the id of the rate's document. */
type Use = {
  readonly kind: LimitFacts['kind'];
  readonly id: string;
  readonly name?: Name | undefined;
  readonly key?: string;
  readonly limit?: number;
  readonly per?: number;
  readonly count: number;
  readonly held: readonly Holding[];
  readonly line: readonly LimitWaiter[];
};

type Found = { readonly uses: readonly Use[]; readonly partly: boolean };

async function usedPermits(store: Store): Promise<Found> {
  const { held: all, partly } = await heldPermits(store, mostLooked);
  const byKey = new Map<string, HeldPermit[]>();
  for (const one of all) {
    const key = String(one.lock['key']);
    addTo(byKey, key, one);
  }
  const uses = [...byKey].map(([id, taken]): Use => {
    const held = taken.map(holdingOf).sort((a, b) => a.since - b.since);
    const { value, limit } = (taken[0] as HeldPermit).lock;
    const key = typeof value === 'string' ? value : undefined;
    return {
      ...{ kind: 'concurrency', id, name: readLimitKey(id, key), count: held.length, held },
      ...keyIn(id, key),
      ...(typeof limit === 'number' ? { limit } : {}),
      line: [],
    };
  });
  return { uses, partly };
}

/** The keys of `round_robin` share the permits: then each permit may have another one. */
function keyIn(id: string, value: string | undefined): Pick<Use, 'key'> {
  const isOfAll = value === undefined || !(id.endsWith(` ${value}`) || id.startsWith('lock:'));
  return isOfAll ? {} : { key: value };
}

function holdingOf({ lock: { step, at }, job, owner }: HeldPermit): Holding {
  return { job, ...(typeof step === 'string' ? { step } : {}), since: Number(at), owner };
}

/** `named`: so many that began under each are of interest, whosever they are; undefined: it depends on whose. */
async function usedRates(store: Store, now: number, named: number | undefined): Promise<Found> {
  const uses: Use[] = [];
  let looked = 0;
  for await (const doc of store.rangePages('rate:')) {
    if ((looked += 1) > mostLooked) break;
    const parsed = rateDocumentSchema.safeParse(doc);
    if (!parsed.success || !isRateId(doc._id)) continue;
    const { of, owner, value, limit, per, grants } = parsed.data;
    const counting = countingGrants(grants, per, now).map(({ grant }) => grant);
    uses.push({
      ...{ kind: 'rate', id: doc._id, name: rateName(of, owner), per },
      ...(value === undefined ? {} : { key: value }),
      ...(limit === undefined ? {} : { limit }),
      count: counting.reduce((sum, { n = 1 }) => sum + n, 0),
      held: counting
        .flatMap(begunBy)
        .sort((a, b) => b.since - a.since)
        .slice(0, named),
      line: [],
    });
  }
  if (named !== undefined) return { uses, partly: looked > mostLooked };
  const ids = [...new Set(uses.flatMap(({ held }) => held.map(({ job }) => job)))];
  const jobs = await store.getMany(ids.slice(0, mostOwned));
  const withOwner = (one: Holding): Holding => {
    const job = jobs.get(one.job);
    return { ...one, owner: job === undefined ? undefined : ownerOf(job) };
  };
  return {
    uses: uses.map((use) => ({ ...use, held: use.held.map(withOwner) })),
    partly: looked > mostLooked,
  };
}

/** What has a rate, by the words that its document has for it. */
function rateName(of: string, owner: string | undefined): Name {
  const [, kind, name = of.slice(1, -1)] = /^(flow|task|queue|work) "(.*)"$/s.exec(of) ?? [];
  // Work that workers take is limited by a name.
  return { of: (kind === 'work' ? 'name' : (kind ?? 'name')) as Name['of'], name, owner };
}

/** The job, or the attempt of a step, that a grant is for; merged ones do not say. */
function begunBy({ for: whose = '', at }: Grant): readonly Holding[] {
  try {
    const [job, ...path] = JSON.parse(whose) as readonly unknown[];
    if (typeof job !== 'string') return [];
    const [step] = path.length > 1 ? path : [];
    const ofStep = typeof step === 'string' ? { step } : {};
    return [{ job, ...ofStep, since: at, owner: undefined }];
  } catch {
    return [];
  }
}

type Asked = { readonly permit?: PermitLine; readonly rate?: RateRequest };

/** A limit that nobody holds as far as was looked. */
function emptyUse(id: string, { permit, rate }: Asked): Use {
  const nothing = { id, count: permit?.by.length ?? 0, held: [], line: [] };
  if (rate === undefined) return { kind: 'concurrency', ...nothing, name: readLimitKey(id) };
  const key = rate.value === undefined ? {} : { key: rate.value };
  return { kind: 'rate', ...nothing, name: rateName(rate.of, rate.owner), ...key };
}

/** Who waits knows the numbers as they are now. */
function numbersOf({ permit, rate }: Asked): Pick<Use, 'limit' | 'per'> {
  if (rate !== undefined) return { limit: rate.limit, per: rate.perMs };
  return permit === undefined ? {} : { limit: permit.most };
}

function byLine(a: Use, b: Use): number {
  return b.line.length - a.line.length || b.count - a.count || (a.id < b.id ? -1 : 1);
}

function factsOf(
  use: Use,
  isSeen: (owner: string | undefined) => boolean,
  named: number,
): LimitFacts {
  const { kind, id, key, limit, per, count, held, line } = use;
  const { of, name, owner } = use.name ?? { of: 'name' as const, name: id };
  return {
    ...{ kind, title: titleOf(use), of, name, ...(owner === undefined ? {} : { owner }) },
    ...(key === undefined ? {} : { key: shownKey(key) }),
    ...(limit === undefined ? {} : { limit }),
    ...(per === undefined ? {} : { per }),
    held: count,
    holders: held
      .filter((one) => isSeen(one.owner))
      .slice(0, named)
      .map(({ job, step, since }) => ({ job, ...(step === undefined ? {} : { step }), since })),
    waiting: line.length,
    line: line
      .filter((one) => isSeen(one.owner))
      .slice(0, named)
      .map(({ job, since, place, to }) => ({
        ...{ job, place },
        ...(to === undefined ? {} : { to }),
        ...(since === undefined ? {} : { since }),
      })),
  };
}

/** The same words as in explain. */
function titleOf({ kind, id, name: found }: Use): string {
  const { of, name, at = 0 } = found ?? { of: 'name' as const, name: id };
  if (at === 'max_running') return `"max_running" of flow ${name}`;
  const word = kind === 'rate' ? 'rate' : 'limit';
  if (of === 'name') return `${word} ${name}`;
  return at === 0 ? `the ${word} of ${of} ${name}` : `${word} ${at + 1} of ${of} ${name}`;
}
