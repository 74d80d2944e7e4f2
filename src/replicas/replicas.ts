import { LRUCache } from 'lru-cache';
import { readConsistent } from './resolve/consistent-read.js';
import { beginsAnything } from './resolve/beginnings.js';
import type { LivenessOf } from './resolve/attempt-merge.js';
import { commitToMany, commitToOne, type JobWrite, type Committed } from './resolve/commit.js';
import type { Protocol } from './resolve/protocol.js';
import { holds, stepsIn } from './resolve/leaf-revisions.js';
import { isOnItsWay } from '../model/big-result.js';
import type { StoredDocument } from '../model/document.js';
import { isLive } from '../model/step.js';
import { runProtocol, type ProtocolPorts } from './run-protocol.js';

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
  readonly suspects: Known;
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
  readonly unbegun: Known;
  /**
   * Claims whose end was stored not long ago. A copy that has not heard of it shows them running:
   * it is waited for, nothing is lost.
   */
  readonly ended: Known;
};

/** Claims that can be looked up. */
type Known = Pick<ReadonlySet<string>, 'has'>;

export type ReplicasParts = Omit<ProtocolPorts, 'copies'> & {
  /** Id of this engine. */
  readonly me: string;
  /** The claims of a job whose attempts run in this process. */
  readonly claimsOf: (job: string) => readonly string[];
  /** Takes a version that was read. */
  readonly onRead: (doc: StoredDocument) => void;
  readonly lease: (engine: string, pid?: number) => 'alive' | 'dead';
};

/** So many claims are remembered that were given up, and as many that have ended. */
const remembered = 10_000;
/** So long copies may take to hear of each other's revisions, ms. */
const hearsayMs = 300_000;

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
    const protocol = isPlain
      ? commitToOne(change)
      : commitToMany(change, livenessIn(change.job._id));
    const committed = await runProtocol(protocol, { ...ports, mayBeLate, ...most });
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

/** What this engine knows of the attempts of a job; `ended`: claims whose ends it has stored. */
function livenessFor(
  { me, claimsOf, lease }: ReplicasParts,
  job: string,
  ended: Known,
): LivenessOf {
  return ({ engine, claim, pid }) => {
    if (claimsOf(job).includes(claim)) return 'runs';
    if (engine === me) return ended.has(claim) ? 'elsewhere' : 'given_up';
    return lease(engine, pid) === 'dead' ? 'lost' : 'elsewhere';
  };
}

/** The claims that were given up, and those whose ends were stored. */
function createPastClaims() {
  const unbegun = new LRUCache<string, true>({ max: remembered });
  const ended = new LRUCache<string, true>({ max: remembered, ttl: hearsayMs });
  return {
    unbegun,
    ended,
    /** `isLate`: some copies hear of the end later. */
    remember: (change: JobWrite, { kind }: Committed, isLate: boolean): void => {
      if (kind !== 'written') for (const { claim } of change.claims) unbegun.set(claim, true);
      const isEnded = isLate && (kind === 'written' || kind === 'given_up');
      if (isEnded) for (const claim of change.ended ?? []) ended.set(claim, true);
    },
  };
}

function confirming(copies: number): string {
  return (
    `The database keeps ${copies} copies of each document: every claim, and every job that another one makes, is confirmed before it starts, ` +
    'which takes two writes and three reads each instead of one write.'
  );
}
