import type { Timeline } from './timeline.js';

/** The process of an engine, which may stand still or die; what comes meanwhile waits or is lost. */
export class Life {
  readonly #timeline: Timeline;
  #state: 'running' | 'paused' | 'dead' = 'running';
  #inbox: (() => void)[] = [];

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get isAlive(): boolean {
    return this.#state !== 'dead';
  }

  get isIdle(): boolean {
    return this.#inbox.length === 0;
  }

  /** It is killed: nothing that it waits for comes to anything. */
  die(): void {
    this.#state = 'dead';
    this.#inbox = [];
  }

  /** It stands still for a while; what comes meanwhile waits for it. */
  pause(ms: number): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#timeline.after(ms, () => {
      if (this.#state !== 'paused') return;
      this.#state = 'running';
      for (const happen of this.#inbox.splice(0)) happen();
    });
  }

  /** Something comes from outside. */
  receive(happen: () => void): void {
    if (this.#state === 'running') happen();
    else if (this.#state === 'paused') this.#inbox.push(happen);
  }
}
