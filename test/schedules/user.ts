import type { Tip } from '../../src/decide/copies/tips.js';
import { isFinal, type Job } from '../../src/model/job.js';
import { between, oneOf } from '../chaos/chance.js';
import { nodes, type Cluster } from './cluster.js';
import type { Timeline } from './timeline.js';

/** A person who edits the job by hand, through any node: notes, pauses and, seldom, a cancel. */
export class User {
  readonly #cluster: Cluster;
  readonly #timeline: Timeline;
  readonly #chance: () => number;
  readonly #faultsMs: number;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly timeline: Timeline;
    readonly chance: () => number;
    readonly faultsMs: number;
  }) {
    this.#cluster = parts.cluster;
    this.#timeline = parts.timeline;
    this.#chance = parts.chance;
    this.#faultsMs = parts.faultsMs;
  }

  /** Plans the edits of a schedule; whoever pauses goes on in the end. */
  plan(): void {
    const chance = this.#chance;
    if (chance() < 0.6) return;
    const edits = between(1, 4, chance);
    for (let i = 0; i < edits; i += 1) {
      const drawn = chance();
      const change =
        drawn < 0.5 ? { note: i } : drawn < 0.93 ? { paused: i % 2 === 0 } : { cancel: true };
      this.#timeline.after(chance() ** 2 * this.#faultsMs, () => this.#edit(change));
    }
    this.#timeline.after(this.#faultsMs + 1_000, () => this.#resume());
  }

  #edit(change: Readonly<Record<string, unknown>>): void {
    const node = oneOf(nodes, this.#chance);
    const doc = this.#cluster.glance(node)?.doc;
    if (doc === undefined || isFinal(doc as unknown as Job)) return;
    this.#cluster.write(node, { ...doc, ...change }, () => undefined);
  }

  /** Once all is well again: takes care that the job is not left paused. */
  #resume(): void {
    const node = oneOf(nodes, this.#chance);
    this.#cluster.look(node, ([doc]) => {
      if (doc === undefined || isFinal(doc as unknown as Job)) return;
      const again = (): void => this.#timeline.after(2_000, () => this.#resume());
      if (doc['paused'] !== true) return again();
      const resumed: Tip = { ...doc, paused: false };
      this.#cluster.write(node, resumed, again);
    });
  }
}
