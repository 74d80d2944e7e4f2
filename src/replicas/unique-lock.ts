import type { LockAnswer } from '../decide/world.js';
import type { StoredDocument } from '../model/document.js';
import type { LockDocument } from '../model/lock.js';
import type { UniqueRule } from '../model/unique.js';
import { giveWay, restApart, unknownAnswer, writeUpon, type ReplicatedLock } from './lock.js';
import { isOf, rivalOf, sinceOf, type LockingJob } from './lock-holder.js';
import type { LeafRevision } from './resolve/leaf-revisions.js';
import { look, write, type Protocol, type WriteAnswer } from './resolve/protocol.js';
import { findUniqueHolder, type UniqueHolding } from './unique-holder.js';

/** The lock of a key, as a job wants it. */
export type UniqueLock = Omit<ReplicatedLock, 'next' | 'isOwn'> & {
  /** Without `_rev`: it is about to be stored. */
  readonly job: Omit<LockingJob, '_rev'> & Partial<Pick<LockingJob, '_rev'>>;
  readonly rule: UniqueRule;
  /** The database keeps several copies: what was written is confirmed. */
  readonly many: boolean;
  /** The jobs before it are asked to cancel; not by a submit, whose job is not stored yet. */
  readonly asks: boolean;
  /** The lock as it is to be written, with the jobs that must end before this one begins. */
  readonly next: (upon: LeafRevision | undefined, after: readonly string[]) => LockDocument;
};

/**
 * Takes the lock of a key for a job, with one copy of it or several.
 *
 * U17 A submit stores the lock before the job. Until the job is there the lock is `reserved`, and counts for 10
 *    seconds: whoever dies in between keeps nobody from anything for longer. An engine that begins the job
 *    takes the lock anew (U3), so what was taken over meanwhile ends the job, not the rule.
 * U18 Which job counts, says the rule of the job that asks; how long the lock stays, that of the job that has it.
 * U19 A job that replaces another one has the lock at once, with the other one listed in `after`, and begins when
 *    none of these is left. Who is listed does not begin any more. So the last write of the lock says who goes
 *    on, and a job that was replaced while it waited holds up nobody.
 *    Among several leaves it takes that of the other one: who gives way removes only what it wrote itself (U5), so
 *    two that wait for each other to give way beside leaves of engines that died would wait for ever.
 * U20 Only who has the lock asks those in `after` to cancel: nobody is cancelled by a job that gets nothing.
 * U42 A submit that replaces writes itself into the lock as well, so of several the last to be submitted runs,
 *    whichever an engine begins first. It asks nobody to cancel, and who is listed waits, as long as its job is
 *    not stored: it may never be. Without it the last one listed that has not begun is next.
 * U43 A job replaces others only as long as it is stored as it was decided upon. The lock is looked at before the
 *    job: if the job goes on after that, it does so by another write of the lock, and this one is refused.
 */
export function* takeUniqueLock(lock: UniqueLock): Protocol<LockAnswer> {
  let acknowledged: string | undefined;
  for (let tries = 0; ; tries += 1) {
    const leaves = yield* look(lock.id);
    const found = leaves && (yield* standing(lock, leaves));
    if (leaves === undefined || found === undefined) return unknownAnswer;
    const mine = leaves.find((leaf) => leaf['nonce'] === lock.nonce);
    const isAcknowledged = mine !== undefined && mine._rev === acknowledged;
    const looked = { leaves, mine, isAcknowledged, tries };
    const answer = yield* answerTo(lock, looked, found);
    if (answer === 'again') continue;
    if (answer !== 'takes') return answer;
    const before = idsBefore(found);
    const stored = yield* writeAfter(lock, looked, { before, rival: found.rival });
    if (stored?.kind === 'refused') return { kind: 'refused', reason: stored.reason };
    if (stored?.kind === 'written') {
      acknowledged = stored.rev;
      // With one copy the write alone decides.
      if (!lock.many && before.length === 0) return { kind: 'held' };
    } else if (stored !== undefined) yield* restApart(tries, lock);
  }
}

/** What a look comes to: the lock is to be written, it must be looked at again, or an answer. */
function* answerTo(
  lock: UniqueLock,
  looked: Found,
  { rival, after }: Standing,
): Protocol<LockAnswer | 'takes' | 'again'> {
  const { leaves, isAcknowledged } = looked;
  const isAlone = leaves.length > 0 && leaves.every(ownOf(lock));
  // A key belongs to an owner, so none of these is foreign.
  const by = rival?.holder.job ?? after[0]?._id;
  if (by !== undefined && lock.rule.replace === true && !(yield* isAsStored(lock))) {
    return { kind: 'contested', by };
  }
  // Until they have ended the lock need not be written again.
  if (isAlone && after.length > 0) return yield* replacing(after, lock);
  if (isAlone && isAcknowledged) return { kind: 'held' };
  if (rival !== undefined) return yield* meet(lock, looked, rival);
  return amongListed(lock, leaves, after);
}

/** What becomes of a job whose key only jobs have that were replaced and have not ended. */
function amongListed(
  lock: UniqueLock,
  leaves: readonly LeafRevision[],
  after: readonly StoredDocument[],
): LockAnswer | 'takes' {
  const later = laterOf(lock, leaves, after);
  if (later !== undefined) return { kind: 'replaced', by: later._id };
  const [first] = after;
  if (first === undefined || lock.rule.replace === true) return 'takes';
  return { kind: 'taken', by: first._id };
}

/**
 * Whether the job is still what the engine decides upon. One that has begun since, or ended, in another engine
 * would replace those that have replaced it (U43).
 */
function* isAsStored({ job: { _id, _rev } }: UniqueLock): Protocol<boolean> {
  if (_rev === undefined) return true;
  const leaves = yield* look(_id);
  return leaves?.some((leaf) => leaf._rev === _rev) ?? false;
}

/** The jobs that must end before the one that takes the lock begins. */
function idsBefore({ rival, after }: Standing): readonly string[] {
  const ids = after.map(({ _id }) => _id);
  return rival === undefined ? ids : [...new Set([...ids, rival.holder.job])];
}

/** Writes the lock, upon the leaf of a rival if there is one; undefined when leaves of nobody had to be removed first. */
function* writeAfter(
  lock: UniqueLock,
  { leaves, mine }: Found,
  { before, rival }: Pick<Standing, 'rival'> & { readonly before: readonly string[] },
): Protocol<WriteAnswer | undefined> {
  const next = (upon: LeafRevision | undefined): LockDocument => lock.next(upon, before);
  if (rival !== undefined) {
    const { leaf } = rival;
    return yield* write({ ...next(leaves.find(ownOf(lock)) ?? leaf), _rev: leaf._rev });
  }
  return yield* writeUpon({ next, isOwn: ownOf(lock) }, leaves, mine);
}

/** What the lock of a key holds beside its rule. */
type UniqueLockFacts = Pick<LockDocument, 'key' | 'job' | 'at' | 'nonce' | 'reserved'> & {
  readonly id: string;
  readonly owner: string;
  readonly after: readonly string[];
};

/** Returns the document of the lock of a key. It keeps the rule of its job for whoever removes it. */
export function uniqueLockOf(
  { id, after, ...facts }: UniqueLockFacts,
  { states, periodMs }: UniqueRule,
): LockDocument {
  return {
    _id: id,
    type: 'lock',
    kind: 'unique',
    ...facts,
    ...(after.length === 0 ? {} : { after: [...after] }),
    ...(states === undefined ? {} : { states: [...states] }),
    ...(periodMs === undefined ? {} : { until: facts.at + periodMs }),
  };
}

const ownOf =
  ({ job }: UniqueLock) =>
  (leaf: LeafRevision): boolean =>
    isOf(leaf, job);

type Rivalling = { readonly leaf: LeafRevision; readonly holder: Holder };
type Holder = NonNullable<UniqueHolding['holder']>;
type Standing = {
  readonly rival: Rivalling | undefined;
  readonly after: readonly StoredDocument[];
};

/** The first leaf of another job that counts, and the jobs that must end first; undefined: the engine ends. */
function* standing(
  { job, rule, now }: UniqueLock,
  leaves: readonly LeafRevision[],
): Protocol<Standing | undefined> {
  let rival: Rivalling | undefined;
  const after = new Map<string, StoredDocument>();
  for (const leaf of leaves) {
    const search = findUniqueHolder(leaf, { job, rule, now: now() });
    let step = search.next();
    while (step.done !== true) {
      const jobs = yield* look(step.value);
      if (jobs === undefined) return undefined;
      step = search.next(jobs);
    }
    const { holder, after: left } = step.value;
    if (holder !== undefined) rival ??= { leaf, holder };
    for (const one of left) after.set(one._id, one);
  }
  return { rival, after: [...after.values()] };
}

type Found = Parameters<typeof giveWay>[1];

/** What becomes of a job that meets another one: it takes the lock all the same, looks again, or an answer. */
function* meet(
  lock: UniqueLock,
  found: Found,
  { leaf, holder }: Rivalling,
): Protocol<LockAnswer | 'takes' | 'again'> {
  const { job, rule, many, owner } = lock;
  const by = rivalOf(holder, owner);
  const isBeside = found.leaves.some(ownOf(lock));
  if (!isBeside && holder.reserved === true) return { kind: 'contested', ...by };
  if (!isBeside && isListedIn(leaf, job._id)) return { kind: 'replaced', ...by };
  if (rule.replace === true && holder.reserved !== true) return 'takes';
  if (!many) return { kind: 'taken', ...by };
  const since = sinceOf(leaf, 0);
  const given = yield* giveWay({ ...lock, isOwn: ownOf(lock) }, found, { holder, since });
  if (given === undefined) return 'again';
  return rule.replace === true ? { kind: 'contested', ...by } : given;
}

function isListedIn({ after }: LeafRevision, job: string): boolean {
  return Array.isArray(after) && after.includes(job);
}

/** Returns the last job that is listed after this one and has not begun: it replaces this one (U42). */
function laterOf(
  { job }: UniqueLock,
  leaves: readonly LeafRevision[],
  after: readonly StoredDocument[],
): StoredDocument | undefined {
  const isLater = ({ after: listed }: LeafRevision, id: string): boolean =>
    Array.isArray(listed) &&
    listed.includes(job._id) &&
    listed.indexOf(id) > listed.indexOf(job._id);
  return after.findLast(
    ({ _id, state }) => state === undefined && leaves.some((leaf) => isLater(leaf, _id)),
  );
}

/** Asks those that must end first to cancel, each of them once (U20). */
function* replacing(
  after: readonly StoredDocument[],
  { job, asks }: UniqueLock,
): Protocol<LockAnswer> {
  for (const one of asks ? after : []) {
    const { cancel, requests } = one;
    if (cancel !== undefined && cancel !== false) continue;
    const asked = Array.isArray(requests) ? requests.length : 0;
    const stored = yield* write({
      // Whoever asks before it is on record asks under the same id.
      _id: `request:${one._id}:unique:${asked}`,
      type: 'request',
      job: one._id,
      action: 'cancel',
      reason: `job ${job._id} takes its place ("unique")`,
    });
    if (stored.kind === 'refused') return { kind: 'refused', reason: stored.reason };
  }
  return { kind: 'replacing', by: String(after[0]?._id) };
}
