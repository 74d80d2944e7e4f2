import { Cluster, type FeedEvent } from './cluster.js';
import type { Faults } from './faults.js';
import type { Timeline } from './timeline.js';

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

  /** Those of which some copy has a revision. */
  get ids(): readonly string[] {
    return [...this.#clusters].flatMap(([id, cluster]) => (cluster.tips().length > 0 ? [id] : []));
  }

  /** Requests, replies and replication under way. */
  get inFlight(): number {
    return [...this.#clusters.values()].reduce((sum, cluster) => sum + cluster.inFlight, 0);
  }
}
