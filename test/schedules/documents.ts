import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { Cluster, type FeedEvent } from './cluster.js';
import type { Faults } from './faults.js';
import type { Timeline } from './timeline.js';

/** Whether a document is a lock, not a job. */
export function isLock(id: string): boolean {
  return id.startsWith('lock:');
}

export type DocumentsParts = {
  readonly faults: Faults;
  readonly timeline: Timeline;
  readonly chance: () => number;
  /** Told when a document changes on the copy of a node. */
  readonly onChange: (id: string, node: number, event: FeedEvent) => void;
};

/** All documents of a schedule: a job and those that are made for it, on the same three nodes. */
export class Documents {
  readonly #clusters = new Map<string, Cluster>();
  readonly #parts: DocumentsParts;

  constructor(parts: DocumentsParts) {
    this.#parts = parts;
  }

  /** The copies of a document, which need not exist yet. */
  of(id: string): Cluster {
    const known = this.#clusters.get(id);
    if (known !== undefined) return known;
    const { onChange, ...shared } = this.#parts;
    const made = new Cluster({
      ...shared,
      onChange: (node, event) => onChange(id, node, event),
    });
    this.#clusters.set(id, made);
    return made;
  }

  /** Those of jobs of which some copy has a revision. */
  get ids(): readonly string[] {
    return [...this.#clusters].flatMap(([id, cluster]) =>
      !isLock(id) && cluster.leaves().length > 0 ? [id] : [],
    );
  }

  /** All locks as a view of one node tells them; a node that nobody reaches is asked again. */
  listLocks(node: number, answer: (locks: readonly LeafRevision[]) => void): void {
    const { timeline, chance } = this.#parts;
    const seen = [...this.#clusters].flatMap(([id, cluster]) =>
      isLock(id) ? [cluster.glance(node)] : [],
    );
    const isReached = seen.every((event) => event !== undefined);
    timeline.after(chance() * (isReached ? 20 : 400), () => {
      if (isReached) answer(seen.flatMap((event) => event.doc ?? []));
      else this.listLocks(node, answer);
    });
  }

  /** Requests, replies and replication under way. */
  get inFlight(): number {
    return [...this.#clusters.values()].reduce((sum, cluster) => sum + cluster.inFlight, 0);
  }
}
