import { setTimeout as sleep } from 'node:timers/promises';
import type { UncancelledChild } from '../decide/finish/abandoned.js';
import type { GivenUp } from '../decide/intent.js';
import { isOnItsWay } from '../model/big-result.js';
import type { StoredDocument } from '../model/document.js';
import { inReadingOrder } from '../model/job.js';
import { isLive } from '../model/step.js';
import type { Store } from '../store/store.js';
import { createPastClaims, livenessFor, type Names, type AttemptsInSight } from './past-claims.js';
import type { LivenessOf } from './resolve/attempt-merge.js';
import { beginsAnything } from './resolve/beginnings.js';
import {
  commitToMany,
  committedToOne,
  readBack,
  type Committed,
  type JobWrite,
  type UnclearAnswer,
} from './resolve/commit.js';
import { readConsistent } from './resolve/consistent-read.js';
import {
  borrowedIn,
  holds,
  stepsIn,
  winnerFirst,
  type LeafRevision,
  type NewDraft,
} from './resolve/leaf-revisions.js';
import type { Effect, EffectAnswer, Protocol, WriteAnswer } from './resolve/protocol.js';

/** How jobs are read and written, whatever number of copies the database keeps of them. */
export type Replicas = {
  /** Sets the number of copies, as the database itself reports it. */
  readonly setCount: (copies: number) => void;
  /** More than one: what one of them says need not be what all of them say. */
  readonly many: boolean;
  /** How many there are. */
  readonly count: number;
  /** The job is said to be in conflict, or gone: its copies are asked before it is believed. */
  readonly suspect: (id: string) => void;
  /** The job is gone: it is no longer suspect. */
  readonly clear: (id: string) => void;
  readonly suspects: Names;
  /**
   * Reads the job from all copies where one of `many` may be wrong, and resolves its conflict as far
   * as possible. Undefined: it is deleted, or the engine ends.
   */
  readonly readConsistent: (doc: StoredDocument) => Promise<StoredDocument | undefined>;
  /** Runs a protocol with as many copies as there are. */
  readonly run: <T>(protocol: Protocol<T>) => Promise<T>;
  /**
   * Stores a job, of so many bytes at the most; its claims may be started only when `written`.
   */
  readonly commit: (change: JobWrite, mostBytes?: number) => Promise<Committed>;
  /** Claims that were made and given up; they may come into the document late. */
  readonly unbegun: Names;
  /**
   * Claims whose end was stored not long ago. A copy that has not heard of it shows them running:
   * it is waited for, nothing is lost.
   */
  readonly ended: Names;
};

/** What a protocol is run with. */
export type ProtocolPorts = {
  readonly store: Pick<Store, 'write' | 'get' | 'leaves' | 'attachment'>;
  /** Asks the store until it answers; undefined only when the engine ends first. */
  readonly retry: <T>(ask: () => Promise<T>) => Promise<T | undefined>;
  readonly log: { readonly debug: LogLine; readonly info: LogLine };
  /** Logs each message about a document once until the document is stored. */
  readonly once: {
    /** The documents about which something was logged. */
    readonly said: Pick<ReadonlyMap<string, unknown>, 'has'>;
    readonly log: (level: 'warn', id: string, message: string) => void;
    readonly stored: (id: string) => void;
  };
  /** Asks child jobs to cancel; resolves to those that cannot be asked. */
  readonly giveUp: (children: readonly GivenUp[]) => Promise<readonly UncancelledChild[]>;
  /** Aborted: nothing is written any more. */
  readonly life: AbortSignal;
  /** Copies that the database keeps of every document. */
  readonly copies: () => number;
  /**
   * An answer that took longer (ms) says nothing about now: the process may have stood still, and
   * others may have taken it for dead meanwhile.
   */
  readonly patienceMs: number;
  /** Whether such an answer counts all the same; left out: it does not. */
  readonly mayBeLate?: () => boolean;
  /** A longer document is refused, bytes. */
  readonly mostBytes?: number;
  /** Waits so many ms; left out: by the clock of the process. */
  readonly rest?: (ms: number) => Promise<void>;
};

type LogLine = (about: Readonly<Record<string, unknown>>, message: string) => void;

export type ReplicasParts = Omit<ProtocolPorts, 'copies'> &
  AttemptsInSight & {
    /** Takes a version that was read. */
    readonly onRead: (doc: StoredDocument) => void;
  };

export function createReplicas(parts: ReplicasParts): Replicas {
  const { claimsOf, onRead, store, retry, log } = parts;
  const suspects = new Set<string>();
  const past = createPastClaims();
  const copies = { many: false, count: 1 };
  const ports: ProtocolPorts = { ...parts, copies: () => copies.count };
  const livenessIn = (job: string): LivenessOf => livenessFor(parts, job, past.ended);
  const isDoubtful = (doc: StoredDocument): boolean =>
    suspects.has(doc._id) ||
    claimsOf(doc._id).some((claim) => !holds(doc, claim)) ||
    stepsIn(doc).some((step) => isLive(step) && past.ended.has(step.claim));
  const commit: Replicas['commit'] = async (change, mostBytes) => {
    const isPlain = !copies.many || change.unconfirmed === true;
    // Only what is to be started has to be true now.
    const mayBeLate = (): boolean => !beginsAnything(change);
    const most = mostBytes === undefined ? {} : { mostBytes };
    const own = { ...ports, mayBeLate, ...most };
    const committed = isPlain
      ? await commitToOne(change, own)
      : await runProtocol(commitToMany(change, livenessIn(change.job._id)), own);
    const isWritten = committed.kind === 'written';
    if (copies.many || !isWritten) past.remember(change, committed, copies.many);
    if (!isWritten || committed.doc['_attachments'] === undefined) return committed;
    if (!isOnItsWay(committed.doc)) return committed;
    // In the database an attachment is a stub, which later writes keep.
    const stored = await retry(() => store.get(committed.doc._id));
    return stored === undefined ? committed : { ...committed, doc: stored };
  };
  return Object.assign(copies, {
    unbegun: past.unbegun,
    ended: past.ended,
    suspects,
    setCount: (now: number) => {
      if (now > 1 && now !== copies.count) log.info({ copies: now }, confirming(now));
      copies.many = now > 1;
      copies.count = now;
      if (!copies.many) suspects.clear();
    },
    suspect: (id: string) => {
      if (copies.many) suspects.add(id);
    },
    clear: (id: string) => void suspects.delete(id),
    readConsistent: async (doc: StoredDocument) => {
      if (!isDoubtful(doc)) return doc;
      const { _id: id } = doc;
      const read = await runProtocol(readConsistent(id, claimsOf(id), livenessIn(id)), ports);
      if (read?.conflict === true) suspects.add(id);
      else suspects.delete(id);
      if (read?.leaf !== undefined) onRead(read.leaf);
      return read?.leaf;
    },
    run: <T>(protocol: Protocol<T>) => runProtocol(protocol, ports),
    commit,
  });
}

function confirming(copies: number): string {
  return (
    `The database keeps ${copies} copies of each document: every claim, and every job that another one makes, is confirmed before it starts, ` +
    'which takes two writes and three reads each instead of one write.'
  );
}

/** Stores a change where every document has one copy. */
async function commitToOne(change: JobWrite, ports: ProtocolPorts): Promise<Committed> {
  const stored = await write(change.job, ports);
  const committed = committedToOne(change, stored);
  return committed ?? runProtocol(readBack(change, stored as UnclearAnswer), ports);
}

/** Performs the effects of a protocol one after the other; resolves to its result. */
export async function runProtocol<T>(protocol: Protocol<T>, ports: ProtocolPorts): Promise<T> {
  let step = protocol.next();
  while (step.done !== true) step = protocol.next(await perform(step.value, ports));
  return step.value;
}

async function perform(effect: Effect, ports: ProtocolPorts): Promise<EffectAnswer> {
  switch (effect.kind) {
    case 'write':
      return write(effect.doc, ports);
    case 'look':
      return look(effect.id, ports);
    case 'abandon':
      return ports.giveUp(effect.children);
    case 'rest':
      if (ports.rest === undefined) await restByClock(effect.ms, ports.life);
      else await ports.rest(effect.ms);
      return undefined;
  }
}

async function restByClock(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function write(draft: NewDraft, ports: ProtocolPorts): Promise<WriteAnswer> {
  const { store, log, once, life, patienceMs, mayBeLate, mostBytes } = ports;
  const doc = draft['_attachments'] === undefined ? draft : await withBorrowed(draft, ports);
  if (life.aborted) return { kind: 'unknown', cause: 'the engine ends' };
  if (doc === undefined) {
    const cause = 'no copy that answers has the large result of another revision';
    once.log('warn', draft._id, `Job ${draft._id} stays in conflict for now: ${cause}.`);
    return { kind: 'unknown', cause };
  }
  const asked = performance.now();
  const stored = await store.write(doc['_deleted'] === true ? doc : inReadingOrder(doc), mostBytes);
  const isLate = performance.now() - asked > patienceMs && mayBeLate?.() !== true;
  const result: WriteAnswer =
    isLate && stored.kind === 'written'
      ? { kind: 'unknown', cause: 'the answer came late' }
      : stored;
  if (result.kind === 'unknown') {
    log.debug({ document: doc._id }, `Not known whether it was stored: ${result.cause}`);
  }
  if (result.kind === 'refused') {
    const what = `The database refuses a revision of document ${doc._id}`;
    once.log('warn', doc._id, `${what}: ${result.reason}`);
  }
  if (result.kind === 'written' && once.said.has(doc._id)) once.stored(doc._id);
  return result;
}

/**
 * The document with the attachments that it takes over from another revision. Undefined: one of them
 * cannot be read now, and what is not known to be lost is not left out.
 */
async function withBorrowed(
  doc: NewDraft,
  { store, retry, copies }: ProtocolPorts,
): Promise<NewDraft | undefined> {
  const borrowed = borrowedIn(doc);
  if (borrowed.length === 0) return doc;
  const attachments: Record<string, unknown> = { ...(doc['_attachments'] as object) };
  for (const { name, from } of borrowed) {
    const of = { rev: from, copies: copies() };
    const text = await retry(async () => ({ is: await store.attachment(doc._id, name, of) }));
    if (text?.is === undefined) return undefined;
    const data = Buffer.from(text.is).toString('base64');
    attachments[name] = { content_type: 'application/json', data };
  }
  return { ...doc, _attachments: attachments };
}

/** A database that is always so slow is believed in the end. */
const mostLooks = 3;

/** The leaves of the document, the winner first; undefined when the engine ends. */
async function look(
  id: string,
  ports: ProtocolPorts,
): Promise<readonly LeafRevision[] | undefined> {
  const { store, retry, copies, patienceMs, mayBeLate } = ports;
  for (let tries = 1; ; tries += 1) {
    const asked = performance.now();
    const leaves = await retry(async () => {
      if (copies() > 1) return winnerFirst(await store.leaves(id, copies()));
      const doc = await store.get(id);
      return doc === undefined ? [] : [doc];
    });
    const isLate = performance.now() - asked > patienceMs && mayBeLate?.() !== true;
    if (leaves === undefined || !isLate || tries === mostLooks) return leaves;
  }
}
