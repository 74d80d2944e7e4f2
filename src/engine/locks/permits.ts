import type { LockAnswer, PermitAnswer } from '../../decide/world.js';
import type { LockRequest, PermitRequest } from '../../decide/queries.js';
import { lockIdOf } from '../../lock-id.js';
import type { StoredDocument } from '../../model/document.js';
import type { Store } from '../../store/store.js';
import type { ViewRow } from '../../store/views.js';
import { gather } from './gather.js';
import type { LockingJob, Held } from '../../replicas/lock-holder.js';

/** What permits need to know of locks. */
export type PermitParts = {
  readonly store: Pick<Store, 'view' | 'get' | 'getMany'>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly isOf: (lock: Held, job: Omit<LockingJob, '_rev'>) => boolean;
  readonly lockHolderOf: (
    find: (id: string) => Promise<StoredDocument | undefined>,
    lock: Held & { readonly _id: string },
  ) => Promise<{ readonly job: string } | undefined>;
  readonly take: (request: LockRequest, job: LockingJob) => Promise<LockAnswer>;
  /** The jobs that get a permit of a flow before this one. */
  readonly before: (key: string, job: string) => readonly string[];
};

export type PermitLocks = {
  /** Takes one of the permits of a flow, if fewer jobs than that have one. */
  readonly take: (request: PermitRequest, job: LockingJob) => Promise<PermitAnswer>;
  /** A lock is gone; answers the flow of which it was a permit, as far as it was ever asked for here. */
  readonly freed: (id: string) => string | undefined;
};

/** So long an answer that all are taken is believed, ms, if none is given back meanwhile. */
const believedMs = 1_000;

type Full = { readonly kind: 'full'; readonly by: readonly string[] };
type Taken = { readonly id: string; readonly job: string };

/**
 * The permits of flows: for each flow as many lock documents as jobs of it may run at the same time.
 *
 * U6 A permit is a lock like any other: the write that creates its document decides. Those of numbers
 *    that are no longer given out (`max_running` was lowered) count until their jobs have ended.
 * U7 With n permits free only the first n jobs of the line ask for one.
 */
export function createPermitLocks(parts: PermitParts): PermitLocks {
  const { store, now } = parts;
  const flows = new Map<string, string>();
  const full = new Map<string, { readonly answer: Full; readonly most: number; until: number }>();
  /** Counts what was given back, so that an older answer is not believed. */
  let freed = 0;
  const rowsOf = gather(async (keys: readonly string[]) =>
    store.view('locks', { keys: [...new Set(keys)].map((key) => ['permit', key]) }),
  );
  const takeOne = async (request: PermitRequest, job: LockingJob): Promise<PermitAnswer> => {
    const ids = Array.from({ length: request.most }, (_, n) =>
      lockIdOf(`permit ${request.key} ${n}`),
    );
    for (const id of ids) flows.set(id, request.key);
    const rows = (await rowsOf(request.key)).filter((row) => row.key[1] === request.key);
    return takeFree(parts, { ...request, ids, rows }, job);
  };
  return {
    take: async (request, job) => {
      const known = full.get(request.key);
      if (known?.most === request.most && now() < known.until) return known.answer;
      const before = freed;
      const answer = await takeOne(request, job);
      if (answer.kind === 'full' && freed === before) {
        full.set(request.key, {
          answer: { kind: 'full', by: answer.by },
          most: request.most,
          until: now() + believedMs,
        });
      }
      return answer;
    },
    freed: (id) => {
      const key = flows.get(id);
      if (key === undefined) return undefined;
      freed += 1;
      full.delete(key);
      return key;
    },
  };
}

/** What is wanted: one of `ids`, of which `rows` tells those that jobs have. */
type Wanted = PermitRequest & {
  readonly ids: readonly string[];
  readonly rows: readonly ViewRow<'locks'>[];
};

/** Takes the first permit that is free, if it is this job's turn. */
async function takeFree(
  parts: PermitParts,
  { key, most, ids, rows }: Wanted,
  job: LockingJob,
): Promise<PermitAnswer> {
  const { isOf, take, before } = parts;
  const own = rows.find(({ value }) => isOf(value, job));
  const others = rows.filter((row) => row !== own).map(({ id, value }) => ({ id, ...value }));
  // Only where all are gone it matters whether those that have them still live.
  const taken = others.length < most ? others : await living(parts, others);
  const by = taken.map((one) => one.job);
  if (taken.length >= most) return { kind: 'full', by };
  const first = before(key, job._id).filter((id) => !by.includes(id));
  if (own === undefined && first.length >= most - taken.length) {
    return { kind: 'behind', by: first };
  }
  const free = ids.filter((id) => !taken.some((one) => one.id === id));
  for (const id of own === undefined ? free : [own.id, ...free]) {
    const answer = await take({ kind: 'permit', id, key }, job);
    if (answer.kind === 'held') return { kind: 'held', id };
    if (answer.kind === 'unknown') return answer;
    if (!('by' in answer)) return { kind: 'refused', reason: answer.reason };
    by.push(answer.by);
  }
  return { kind: 'full', by };
}

/** Those whose jobs have not ended. */
async function living(
  { store, lockHolderOf }: PermitParts,
  all: readonly Taken[],
): Promise<readonly Taken[]> {
  const jobs = await store.getMany(all.map(({ job }) => job));
  const find = async (id: string) => jobs.get(id) ?? (await store.get(id));
  const holders = await Promise.all(all.map(({ id, job }) => lockHolderOf(find, { _id: id, job })));
  return all.filter((_, i) => holders[i] !== undefined);
}
