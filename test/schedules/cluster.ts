import type { WriteAnswer } from '../../src/replicas/resolve/protocol.js';
import type { NewDraft, LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { Faults } from './faults.js';
import { merged, revise, leavesOf, Tree, type Revision } from './revisions.js';
import type { Timeline } from './timeline.js';

/** What a node's feed says of the job: its winner there (undefined: deleted), and whether it is alone. */
export type FeedEvent = { readonly doc: LeafRevision | undefined; readonly conflicted: boolean };

/** All copies; the node of a copy bears its number. */
export const nodes = [0, 1, 2] as const;
const quorum = 2;
/** So long a node waits for the copies, and a client for a node, ms. */
const nodePatienceMs = 5_000;
const clientPatienceMs = 6_000;

/**
 * A CouchDB cluster of three nodes with one document in three copies, as far as writers can tell:
 * see README.md. Whatever can be lost, late or out of order is so by chance, in virtual time.
 */
export class Cluster {
  readonly copies = [new Tree(), new Tree(), new Tree()] as const;
  /** Requests, replies and replication under way. */
  inFlight = 0;
  readonly #revisions = new Map<string, Revision>();
  readonly #faults: Faults;
  readonly #timeline: Timeline;
  readonly #chance: () => number;
  readonly #onChange: (node: number, event: FeedEvent) => void;

  constructor(parts: {
    readonly faults: Faults;
    readonly timeline: Timeline;
    readonly chance: () => number;
    /** Told when the job changes on the copy of a node. */
    readonly onChange: (node: number, event: FeedEvent) => void;
  }) {
    this.#faults = parts.faults;
    this.#timeline = parts.timeline;
    this.#chance = parts.chance;
    this.#onChange = parts.onChange;
  }

  /** The job as it was submitted: on most copies at once, on the others a little later. */
  submit(doc: LeafRevision): void {
    const first = this.#remember(revise(undefined, doc));
    this.copies.forEach((_copy, i) => {
      const late = i > 0 && this.#happens(0.1);
      if (late) return;
      this.#apply(i, first);
    });
    this.#replicate(0);
  }

  /** One of many writers: sends the document to all copies that its node reaches. */
  write(node: number, draft: NewDraft, answer: (stored: WriteAnswer) => void): void {
    const { _rev, ...given } = draft;
    const base = _rev === undefined ? undefined : this.#revisions.get(_rev);
    if (base === undefined && _rev !== undefined) throw new Error(`Nobody has ever seen ${_rev}.`);
    const body = withoutSources(given);
    if (base !== undefined) checkHistory(base.doc, body);
    const next = this.#remember(revise(base, body as unknown as LeafRevision));
    const reply = this.#once(answer);
    const reached = this.#reachedBy(node);
    if (reached.length === 0) return this.#after(1, () => reply(unknown('unreachable')));
    const round = { waiting: reached.length, accepted: 0, conflicts: 0 };
    const conclude = (): void => {
      if (round.accepted >= quorum) reply({ kind: 'written', rev: next.rev });
      else if (round.accepted > 0) reply(unknown('202'));
      else reply(round.conflicts > 0 ? { kind: 'conflict' } : unknown('500'));
    };
    for (const copy of reached) {
      if (this.#happens(this.#faults.dropped)) continue;
      this.#after(this.#delay(), () => {
        const isTaken = this.#apply(copy, next);
        if (this.#happens(this.#faults.unheard)) return;
        this.#after(this.#delay(), () => {
          round.waiting -= 1;
          if (isTaken) round.accepted += 1;
          else round.conflicts += 1;
          if (round.waiting === 0 || round.accepted >= quorum) conclude();
        });
      });
    }
    this.#timeline.after(nodePatienceMs, conclude);
    if (!this.#happens(this.#faults.broken)) return;
    this.#after(this.#delay(), () => reply(unknown('broken connection')));
  }

  /** Reads the leaves of all copies that the node reaches (`r=n`); asks again until they answer. */
  look(node: number, answer: (leaves: readonly LeafRevision[]) => void): void {
    this.#read(node, nodes.length, answer);
  }

  /** Reads as CouchDB does without being told how (`r=2`). */
  get(node: number, answer: (leaves: readonly LeafRevision[]) => void): void {
    this.#read(node, quorum, answer);
  }

  /** What the view of one node tells (`r=1`); undefined when nobody reaches it. */
  glance(node: number): FeedEvent | undefined {
    return this.#reachedBy(node).length === 0 ? undefined : this.#eventOf(node);
  }

  /** The leaves that all copies together have. */
  leaves(): readonly LeafRevision[] {
    return leavesOf(merged(this.copies.map(({ leaves }) => leaves)));
  }

  /** Whether all copies have the same leaves. */
  isEven(): boolean {
    const [first, ...others] = this.copies.map(({ leaves }) =>
      leavesOf(leaves)
        .map(({ _rev }) => _rev)
        .join(),
    );
    return others.every((leaves) => leaves === first);
  }

  #read(node: number, wanted: number, answer: (leaves: readonly LeafRevision[]) => void): void {
    const reached = this.#reachedBy(node);
    const again = (): void => this.#after(200, () => this.#read(node, wanted, answer));
    if (reached.length === 0) return again();
    const leaves: (readonly Revision[])[] = [];
    const enough = Math.min(wanted, reached.length);
    let isOver = false;
    for (const copy of reached) {
      if (this.#happens(this.#faults.dropped)) continue;
      this.#after(this.#delay(), () => {
        const read = this.copies[copy as 0].leaves;
        this.#after(this.#delay(), () => {
          leaves.push(read);
          if (isOver || leaves.length < enough) return;
          isOver = true;
          const all = merged(leaves);
          const isTold = leaves.every((some) => all.every((leaf) => some.includes(leaf)));
          if (!isTold) this.#repair(reached, all);
          answer(leavesOf(all));
        });
      });
    }
    // A node that misses replies answers with an error at last; the client asks again.
    this.#timeline.after(nodePatienceMs, () => {
      if (isOver) return;
      isOver = true;
      again();
    });
  }

  /** A reader that saw copies differ brings what it read to all of them. */
  #repair(reached: readonly number[], leaves: readonly Revision[]): void {
    for (const copy of reached) {
      this.#after(this.#delay(), () => leaves.forEach((leaf) => this.#graft(copy, leaf)));
    }
  }

  #apply(copy: number, next: Revision): boolean {
    if (!this.copies[copy as 0].write(next)) return false;
    this.#changed(copy);
    return true;
  }

  #graft(copy: number, leaf: Revision): void {
    if (this.copies[copy as 0].graft(leaf)) this.#changed(copy);
  }

  #changed(copy: number): void {
    this.#onChange(copy, this.#eventOf(copy));
    this.#replicate(copy);
  }

  #eventOf(copy: number): FeedEvent {
    const leaves = leavesOf(this.copies[copy as 0].leaves);
    return { doc: leaves[0], conflicted: leaves.length > 1 };
  }

  /** A copy that changed brings its leaves to the other ones, some time later. */
  #replicate(from: number): void {
    for (const to of nodes) {
      if (to === from) continue;
      const push = (): void => {
        if (!this.#areJoined(from, to)) return this.#after(500, push);
        for (const leaf of this.copies[from as 0].leaves) this.#graft(to, leaf);
      };
      this.#after(20 + this.#delay() + this.#chance() ** 3 * 4_000, push);
    }
  }

  #reachedBy(node: number): readonly number[] {
    return nodes.filter((copy) => this.#areJoined(node, copy));
  }

  /** A node that is down reaches nothing, not even its own copy; one that is cut off only that. */
  #areJoined(one: number, other: number): boolean {
    const { now } = this.#timeline;
    return this.#faults.outages.every(({ copy, from, to, kind }) => {
      if (now < from || now >= to || (copy !== one && copy !== other)) return true;
      return kind === 'cut' && one === other;
    });
  }

  #remember(revision: Revision): Revision {
    const known = this.#revisions.get(revision.rev);
    if (known !== undefined) return known;
    this.#revisions.set(revision.rev, revision);
    return revision;
  }

  /** The first of several answers counts; without one the client gives up at last. */
  #once(answer: (stored: WriteAnswer) => void): (stored: WriteAnswer) => void {
    let isOver = false;
    const reply = (stored: WriteAnswer): void => {
      if (isOver) return;
      isOver = true;
      answer(stored);
    };
    this.#timeline.after(clientPatienceMs, () => reply(unknown('timeout')));
    return reply;
  }

  #after(ms: number, happen: () => void): void {
    this.inFlight += 1;
    this.#timeline.after(ms, () => {
      this.inFlight -= 1;
      happen();
    });
  }

  #delay(): number {
    if (this.#happens(this.#faults.stray)) return this.#chance() * 20_000;
    if (this.#happens(this.#faults.slow)) return this.#chance() * 500;
    return this.#chance() * 10;
  }

  #happens(share: number): boolean {
    return this.#timeline.now < this.#faults.endAt && share > 0 && this.#chance() < share;
  }
}

type Sources = Readonly<Record<string, { readonly from?: string }>>;

/** Attachments that are taken over from another revision come with what they hold. */
function withoutSources<T extends object>(body: T): T {
  const { _attachments: attachments } = body as { readonly _attachments?: Sources };
  if (attachments === undefined) return body;
  const own = Object.entries(attachments).map(([name, { from: _from, ...one }]) => [name, one]);
  return { ...body, _attachments: Object.fromEntries(own) as Sources };
}

function unknown(cause: string): WriteAnswer {
  return { kind: 'unknown', cause };
}

type Fields = Readonly<Record<string, unknown>>;
type Entry = {
  readonly path?: unknown;
  readonly end?: unknown;
  readonly state?: unknown;
  readonly claim?: unknown;
};

/**
 * What `validate_doc_update` asks of a new revision: no attempt is taken away, no end is changed. At a
 * path one attempt is open at the most.
 */
function checkHistory(before: Fields, after: Fields): void {
  if (after['_deleted'] === true || !Array.isArray(before['steps'])) return;
  const now = (after['steps'] ?? []) as readonly Entry[];
  const open = now.filter(({ end }) => end === undefined).map(({ path }) => path);
  if (new Set(open).size < open.length)
    throw new Error('A revision has two open attempts at a path.');
  (before['steps'] as readonly Entry[]).forEach((step, i) => {
    const same = now[i];
    if (same === undefined) throw new Error('A revision takes an attempt away.');
    if (step.claim !== same.claim) throw new Error('A revision changes a claim.');
    if (step.end === undefined) return;
    if (step.end !== same.end || step.state !== same.state) {
      throw new Error('A revision changes what has ended.');
    }
  });
}
