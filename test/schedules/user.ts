import type { Tip } from '../../src/decide/copies/tips.js';
import { isFinal, type Job } from '../../src/model/job.js';
import { between, oneOf } from '../chaos/chance.js';
import { nodes, type Cluster } from './cluster.js';
import { request, signal, type Mailbox } from './messages.js';
import type { Timeline } from './timeline.js';

/** The step that waits until somebody wakes it. */
export const waitingStep = 'w';

/**
 * A person who edits the job by hand, through any node: notes, pauses and, seldom, a cancel; and
 * who stores requests and signals.
 */
export class User {
  readonly #cluster: Cluster;
  readonly #timeline: Timeline;
  readonly #chance: () => number;
  readonly #faultsMs: number;
  readonly #mailbox: Mailbox;
  #sent = 0;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly timeline: Timeline;
    readonly chance: () => number;
    readonly faultsMs: number;
    readonly mailbox: Mailbox;
  }) {
    this.#cluster = parts.cluster;
    this.#timeline = parts.timeline;
    this.#chance = parts.chance;
    this.#faultsMs = parts.faultsMs;
    this.#mailbox = parts.mailbox;
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
    for (const action of ['note', 'pause', 'resume', 'retry'] as const) {
      if (chance() < 0.5) continue;
      const asked = action === 'note' ? { action, text: 'a' } : { action };
      const post = (): void => this.#mailbox.post(request(this.#nextId(), asked));
      this.#timeline.after(chance() * this.#faultsMs, post);
    }
    this.#timeline.after(this.#faultsMs + 1_000, () => this.#resume());
  }

  /** Plans what ends the waiting step: its signal, or a skip. Whoever is refused asks again. */
  wakeUp(): void {
    const isSkip = this.#chance() < 0.5;
    const ask = (): void => {
      const id = this.#nextId();
      const skip = { action: 'skip', step: waitingStep } as const;
      const message = isSkip ? request(id, skip) : signal(id, 'go');
      this.#mailbox.post(message, () => this.#timeline.after(3_000, ask));
    };
    this.#timeline.after(this.#chance() ** 2 * this.#faultsMs, ask);
  }

  #nextId(): string {
    this.#sent += 1;
    return `sent-${this.#sent}`;
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
