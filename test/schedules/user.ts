import { stepsIn, type LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { isFinal, type Job } from '../../src/model/job.js';
import { between, oneOf } from '../chaos/chance.js';
import { nodes } from './cluster.js';
import type { Documents } from './documents.js';
import { request, signal, type Mailbox } from './messages.js';
import type { Timeline } from './timeline.js';

/** The step that waits until somebody wakes it. */
export const waitingStep = 'w';

/**
 * A person who edits the job and its children by hand, through any node: notes, pauses and, seldom, a cancel; and
 * who stores requests and signals.
 */
export class User {
  readonly #documents: Documents;
  readonly #timeline: Timeline;
  readonly #chance: () => number;
  readonly #faultsMs: number;
  readonly #mailbox: Mailbox;
  #sent = 0;

  constructor(parts: {
    readonly documents: Documents;
    readonly timeline: Timeline;
    readonly chance: () => number;
    readonly faultsMs: number;
    readonly mailbox: Mailbox;
  }) {
    this.#documents = parts.documents;
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
    if (chance() < 0.5) this.#cancelTwice();
    this.#timeline.after(this.#faultsMs + 1_000, () => this.#resume());
  }

  /** Cancels the job, has it go on as soon as it has ended, and cancels it again. */
  #cancelTwice(): void {
    const chance = this.#chance;
    const timeline = this.#timeline;
    const cancel = (): void => this.#mailbox.post(request(this.#nextId(), { action: 'cancel' }));
    const retry = (): void => {
      const again = (): void => void (timeline.now < 2 * this.#faultsMs && later());
      this.#mailbox.post(request(this.#nextId(), { action: 'retry' }), again);
    };
    const later = (): void => timeline.after(100 + chance() * 400, retry);
    const first = chance() * this.#faultsMs;
    timeline.after(first, cancel);
    timeline.after(first + chance() * 3_000, retry);
    for (let i = 0; i < 2; i += 1) timeline.after(first + chance() * this.#faultsMs, cancel);
  }

  /**
   * Once all is well again: sends what the children wait for, as long as the jobs above them go on.
   * A child that nobody waits for any more is not helped to its end.
   */
  wakeChildren(): void {
    const wake = (): void => {
      for (const id of this.#documents.ids) {
        if (this.#waits(id)) this.#mailbox.post(signal(this.#nextId(), 'go', id));
      }
      this.#timeline.after(5_000, wake);
    };
    this.#timeline.after(this.#faultsMs + 40_000, wake);
  }

  #waits(id: string): boolean {
    const [leaf] = this.#documents.of(id).leaves();
    if (leaf === undefined || this.#isOver(id)) return false;
    for (let above = parentOf(leaf); above !== undefined;) {
      if (this.#isOver(above)) return false;
      above = parentOf(this.#documents.of(above).leaves()[0]);
    }
    return stepsIn(leaf).some(({ name, state }) => name === waitingStep && state === '$$waiting');
  }

  #isOver(id: string): boolean {
    return isFinal(this.#documents.of(id).leaves()[0] as unknown as Job);
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
    const cluster = this.#documents.of(oneOf(this.#documents.ids, this.#chance));
    const doc = cluster.glance(node)?.doc;
    if (doc === undefined || isFinal(doc as unknown as Job)) return;
    cluster.write(node, { ...doc, ...change }, () => undefined);
  }

  /** Once all is well again: takes care that no job is left paused. */
  #resume(): void {
    for (const id of this.#documents.ids) this.#resumeOne(id);
    // Also final jobs: a retry that is still on its way may open them again.
    this.#timeline.after(2_000, () => this.#resume());
  }

  #resumeOne(id: string): void {
    const cluster = this.#documents.of(id);
    const node = oneOf(nodes, this.#chance);
    cluster.look(node, ([doc]) => {
      if (doc?.['paused'] !== true || isFinal(doc as unknown as Job)) return;
      const resumed: LeafRevision = { ...doc, paused: false };
      cluster.write(node, resumed, () => undefined);
    });
  }
}

function parentOf(leaf: LeafRevision | undefined): string | undefined {
  return (leaf?.['parent'] as { readonly job: string } | undefined)?.job;
}
