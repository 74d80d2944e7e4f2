import type { FeedEvent } from './cluster.js';
import { Life } from './life.js';
import type { Message } from './messages.js';
import type { Timeline } from './timeline.js';
import type { Worker } from './worker.js';

/** An engine of a schedule: one process, with a worker for each job that it has heard of. */
export class Engine {
  readonly id: string;
  readonly node: number;
  readonly life: Life;
  readonly #workers = new Map<string, Worker>();
  readonly #hire: (engine: Engine, job: string) => Worker;
  #isClosing = false;

  constructor(parts: {
    readonly id: string;
    readonly node: number;
    readonly timeline: Timeline;
    readonly hire: (engine: Engine, job: string) => Worker;
  }) {
    this.id = parts.id;
    this.node = parts.node;
    this.life = new Life(parts.timeline);
    this.#hire = parts.hire;
  }

  get takesWork(): boolean {
    return this.life.isAlive && !this.#isClosing;
  }

  get isIdle(): boolean {
    return this.life.isIdle && [...this.#workers.values()].every((worker) => worker.isIdle);
  }

  /** Ends in order: takes nothing more and hands back what runs. */
  close(): void {
    this.#isClosing = true;
    for (const worker of this.#workers.values()) worker.close();
  }

  /** An event of the feed. */
  take(job: string, event: FeedEvent): void {
    this.#of(job).take(event);
  }

  takeMessage(message: Message): void {
    this.#of(message.job).takeMessage(message);
  }

  /** The sweep: looks whether the feed has missed something. */
  review(jobs: readonly string[]): void {
    for (const job of jobs) this.#of(job).review();
  }

  /** Something has changed that all engines learn of at the same time: about one job, or all. */
  rouse(job?: string): void {
    if (job !== undefined) return this.#of(job).rouse();
    for (const worker of this.#workers.values()) worker.rouse();
  }

  #of(job: string): Worker {
    const known = this.#workers.get(job);
    if (known !== undefined) return known;
    const made = this.#hire(this, job);
    this.#workers.set(job, made);
    if (this.#isClosing) made.close();
    return made;
  }
}
