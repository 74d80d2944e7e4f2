import { failure } from '../../model/failures.js';
import type { LiveJob, NewJob } from '../../model/job.js';
import type { Locked } from '../../model/lock.js';
import { exits, type Failure } from '../../model/step.js';
import { patternOf, targetOf, type Scoped } from '../../model/target.js';
import { ownerOf } from '../../model/task.js';
import { canonical } from '../../model/canonical.js';
import { cancelled, finish } from '../finish/finish.js';
import { acquire, lookUp, type Acquire, type LockRequest, type Query } from '../queries.js';
import type { Blocker, LockAnswer, Rival, World } from '../world.js';
import type { Move, Wait } from '../intent.js';
import type { Unique } from '../../model/unique.js';
import { uniqueKey, uniqueRequest } from './unique.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';

/**
 * What the locks of a job come to. `locked` are those that it has: one that is refused gives back
 * what it has got so far. `open`: something must be found out first, or another job comes first.
 */
export type Locking =
  | { readonly kind: 'held'; readonly locked: Locked }
  | {
      readonly kind: 'refused';
      readonly locked: Locked;
      readonly failure: Failure;
      readonly exit: number;
    }
  | { readonly kind: 'open'; readonly move: Query | Acquire | Wait };

/** Until what is being decided elsewhere is looked at again, ms. */
const pollMs = 200;
/** Until a job that was asked to cancel is looked at again, ms. */
const endingMs = 1_000;

/**
 * Takes the locks of a job before it begins: the one of its `unique` key (`usual`: that of its flow), the one
 * of its target and parameters, then the one for its pattern; then its target is compared with the patterns
 * of all other jobs.
 *
 * This is exact under competition:
 *
 * L1 Of all that want the same lock one gets it: the first write of its document decides.
 * L2 A job asks for the patterns of others only after its own is stored, so of two jobs that exclude
 *    each other at least one sees the other.
 * L3 Of two that see each other while neither is decided, the one whose pattern was stored first goes
 *    on; it waits until the other is refused, or has begun after all because it had looked before. Who
 *    waits comes first in that order, so nobody waits in a circle.
 * L4 A pattern is stored before its job begins, so a job that finds none has come before that one: it is
 *    as if it had been stored earlier.
 */
export function locking(job: NewJob | LiveJob, now: number, world: World, usual?: Unique): Locking {
  let locked = lockedBy(job);
  const { unique = usual } = job;
  const key = unique === undefined ? [] : uniqueLock(job, unique, world);
  if ('kind' in key) return key.kind === 'open' ? key : { ...key, locked };
  for (const request of [...key, ...lockRequests(job, world)]) {
    const answer = world.lock(request.id);
    switch (answer.kind) {
      case 'unknown':
        return { kind: 'open', move: acquire({ locks: [request] }) };
      case 'contested':
      case 'replacing':
        return { kind: 'open', move: contest(request, answer, now) };
      case 'held':
        locked = { ...locked, [request.kind]: request.id };
        break;
      case 'taken':
      case 'replaced':
      case 'invalid':
      case 'refused':
        return { kind: 'refused', locked, ...reasonOf(request, answer) };
    }
  }
  const target = targetOf(job.target);
  return target === undefined
    ? { kind: 'held', locked }
    : admitted(job, { target: target.text, locked }, now, world);
}

/** A job that goes on after its end has given its locks back: it takes them again, or ends again. */
export function relockMove(job: LiveJob, now: number, world: World): Move {
  const found = locking(job, now, world, job.flow_definition.unique);
  if (found.kind === 'open') return found.move;
  const relocked = withLocks(without(job, 'relock'), found.locked);
  if (found.kind === 'held') return { kind: 'change', job: relocked };
  const ending =
    found.exit === exits.cancelled ? { ...found, state: '$$cancelled' as const } : found;
  return { kind: 'change', job: finish(relocked, ending, now) };
}

/** Whether a job has anything to lock. */
export function mayLock(
  job: Pick<LiveJob, 'target' | 'locks' | 'unique' | 'flow_definition'>,
): boolean {
  const { target, locks, unique = job.flow_definition.unique } = job;
  return unique !== undefined || targetOf(target) !== undefined || patternOf(locks) !== undefined;
}

/**
 * The lock for the key of a job. One that has begun before, or that another one goes on as, has its id: its
 * parameters are no longer those that were submitted.
 */
function uniqueLock(
  job: NewJob | LiveJob,
  unique: Unique,
  world: World,
): readonly LockRequest[] | Exclude<Locking, { kind: 'held' }> {
  const former = lockedBy(job).unique;
  if (former !== undefined) return [uniqueRequest(former, job, unique)];
  const key = uniqueKey(job, unique, world.answers);
  switch (key.kind) {
    case 'known':
      return [uniqueRequest(world.lockId(key.text), job, unique)];
    case 'asked':
      return { kind: 'open', move: lookUp({ questions: [key.question] }) };
    case 'wrong': {
      const why = failure('UniqueInvalid', { reason: key.reason });
      return { kind: 'refused', locked: {}, failure: why, exit: exits.definition };
    }
  }
}

/** The job with what it has locked, if that is anything. */
export function withLocks<T extends object>(job: T, locked: Locked): T & { locked?: Locked } {
  return Object.keys(locked).length === 0 ? job : { ...job, locked };
}

/** A job that goes on after its end, or as a new one, asks for a permit anew. */
export function withoutPermit<T extends object>(job: T): T {
  const { locked } = job as { readonly locked?: unknown };
  return isObject(locked) && ('permit' in locked || 'permits' in locked)
    ? { ...job, locked: without(locked, 'permit', 'permits') }
    : job;
}

/** A new job may hold anything under this key. */
function lockedBy(job: NewJob | LiveJob): Locked {
  const { locked } = job as { readonly locked?: unknown };
  if (!isObject(locked)) return {};
  const ids = Object.entries(locked).filter(([, id]) => /^lock:/.test(String(id)));
  return Object.fromEntries(ids);
}

/**
 * The locks in the order in which they are taken. A job that had them before, or has them from the
 * one it continues, asks for the same: its parameters are no longer those that were submitted.
 */
function lockRequests(job: NewJob | LiveJob, world: World): readonly LockRequest[] {
  const { params = {} } = job;
  const locked = lockedBy(job);
  const target = targetOf(job.target);
  const pattern = patternOf(job.locks);
  const wanted: LockRequest[] = [];
  if (target !== undefined) {
    const { text: key, scope } = target;
    const { id, formerId } = targetLock(target, job.owner, params);
    wanted.push(
      locked.target === undefined
        ? { kind: 'target', id: world.lockId(id), formerId: world.lockId(formerId), key, scope }
        : { kind: 'target', id: locked.target, key, scope },
    );
  }
  if (pattern !== undefined) {
    const id = locked.pattern ?? world.lockId(canonical(['pattern', job._id]));
    wanted.push({ kind: 'pattern', id, key: pattern.text, scope: pattern.scope });
  }
  return wanted;
}

/** What names the lock of a target, now and in earlier versions, which knew no owners. */
export function targetLock(
  { text, scope }: Scoped,
  owner: unknown,
  params: unknown,
): { readonly id: string; readonly formerId: string } {
  const whose = scope === 'database' ? { scope } : { owner: ownerOf({ owner }) };
  return {
    id: canonical(['target', whose, text, params]),
    formerId: canonical(['target', text, params]),
  };
}

/** A job that is refused stays so: it waits until the other one has begun, or given the lock up. */
function contest(
  { key }: LockRequest,
  answer: Rival & { readonly kind: string },
  now: number,
): Wait {
  const { by, foreign } = answer;
  if (answer.kind === 'replacing') {
    const because = `Job ${by} has the same "unique" key among the jobs of ${key} and was asked to cancel; this one begins when it has ended.`;
    return { kind: 'wait', because, until: now + endingMs };
  }
  const other = foreign ? 'A job of another owner' : `Job ${by}`;
  const because = `${other}, which has not begun yet, asks for the lock of "${key}", too.`;
  return { kind: 'wait', because, until: now + pollMs };
}

type Unheld = Exclude<LockAnswer, { kind: 'unknown' | 'held' | 'contested' | 'replacing' }>;

function reasonOf({ key, kind }: LockRequest, answer: Unheld): { failure: Failure; exit: number } {
  switch (answer.kind) {
    case 'taken':
      if (kind === 'unique') {
        const { by } = answer;
        return {
          failure: { ...failure('NotUnique', { by, of: key }), job: by },
          exit: exits.refused,
        };
      }
      return {
        failure: failure('TargetTaken', {
          target: key,
          by: answer.foreign ? undefined : answer.by,
        }),
        exit: exits.refused,
      };
    case 'replaced':
      return { failure: replacedBy(answer.by), exit: exits.cancelled };
    case 'invalid':
      return {
        failure: failure('LocksInvalid', { reason: answer.reason }),
        exit: exits.definition,
      };
    case 'refused':
      return {
        failure: failure('StoreRefused', { reason: answer.reason }),
        exit: exits.definition,
      };
  }
}

/** The failure of a job that never begins because another one takes its place. */
function replacedBy(job: string): Failure {
  return cancelled({ cancel: { reason: `job ${job} takes its place ("unique")` } });
}

/** Compares the target with the patterns of other jobs (L2 to L4). */
function admitted(
  job: NewJob | LiveJob,
  { target, locked }: { readonly target: string; readonly locked: Locked },
  now: number,
  world: World,
): Locking {
  const blockers = world.blockers(target);
  if (blockers.kind === 'unknown') return { kind: 'open', move: lookUp({ targets: [target] }) };
  const { own, all } = blockers;
  const isFirst = ({ at, job: other }: Blocker): boolean =>
    own !== undefined && (at < own || (at === own && other < job._id));
  const by = all.find((one) => one.decided || isFirst(one));
  if (by !== undefined) {
    const why = failure('TargetLocked', { target, by: by.foreign ? undefined : by.job });
    return { kind: 'refused', locked, failure: why, exit: exits.refused };
  }
  const [open] = all;
  if (open === undefined) return { kind: 'held', locked };
  const because = `Job ${open.job}, whose "locks" match the target, has not begun yet.`;
  return { kind: 'open', move: { kind: 'wait', because, until: now + pollMs } };
}
