import { between, oneOf } from '../chaos/chance.js';
import type { Beliefs } from './beliefs.js';
import type { Timeline } from './timeline.js';
import type { Engine } from './engine.js';

/** So long an engine may be silent before the others believe it dead, ms. */
const leaseMs = 15_000;
/** So much later some of them notice, ms. */
const slackMs = 5_000;

/** What is done to engines. */
export const deeds = ['kill', 'restart', 'pause', 'slander', 'close'] as const;

export type MischiefParts = {
  readonly timeline: Timeline;
  readonly chance: () => number;
  readonly beliefs: Beliefs;
  /** The engines whose processes are alive. */
  readonly live: () => readonly Engine[];
  /** An engine sits down, under a new name or an old one. */
  readonly join: (id?: string) => void;
  /** Told what happens to whom. */
  readonly said: (who: string, what: () => string) => void;
};

/** Kills, pauses and ends engines, and spreads what they believe of each other. */
export class Mischief {
  /** Engines that ended in order. */
  readonly stopped = new Set<string>();
  readonly #parts: MischiefParts;

  constructor(parts: MischiefParts) {
    this.#parts = parts;
  }

  /** Plans up to four deeds within `ms`. */
  plan(ms: number): void {
    const { timeline, chance, live } = this.#parts;
    if (chance() < 0.4) return;
    const count = between(1, 4, chance);
    for (let i = 0; i < count; i += 1) {
      timeline.after(chance() ** 2 * ms, () => {
        if (live().length > 0) this.#harm(oneOf(live(), chance));
      });
    }
  }

  /** An engine that has just come does not know for a while who of the others is dead. */
  meet(id: string, dead: readonly string[]): void {
    for (const other of dead) this.#believe(id, other, true, leaseMs + this.#upTo(slackMs));
  }

  #harm(engine: Engine): void {
    const { chance, timeline, join, said } = this.#parts;
    const deed = oneOf(deeds, chance);
    said(engine.id, () => `suffers: ${deed}`);
    switch (deed) {
      case 'kill':
        this.#kill(engine);
        return timeline.after(this.#upTo(5_000), () => join());
      case 'restart':
        return this.#restart(engine);
      case 'pause': {
        const ms = this.#upTo(25_000);
        engine.life.pause(ms);
        return this.#doubt(engine.id, ms);
      }
      case 'slander':
        return this.#slander(engine);
      case 'close':
        return this.#close(engine);
    }
  }

  #kill(engine: Engine): void {
    engine.life.die();
    for (const other of this.#parts.live()) {
      this.#believe(other.id, engine.id, true, leaseMs + this.#upTo(slackMs));
    }
  }

  /** It dies and comes back under its name, before or after the others have noticed. */
  #restart(engine: Engine): void {
    const { beliefs, timeline, join } = this.#parts;
    const { id } = engine;
    beliefs.doubt(id, timeline.now);
    engine.life.die();
    const backMs = this.#upTo(25_000);
    timeline.after(backMs, () => join(id));
    this.#doubt(id, backMs);
  }

  /** The others believe an engine dead that is silent for so long, until it gives a sign again. */
  #doubt(id: string, silentMs: number): void {
    for (const other of this.#parts.live()) {
      const ms = leaseMs + this.#upTo(slackMs);
      if (other.id === id || ms > silentMs) continue;
      this.#believe(other.id, id, true, ms);
      this.#believe(other.id, id, false, silentMs + this.#upTo(slackMs));
    }
  }

  /** One engine believes another one dead for a while that is not. */
  #slander(engine: Engine): void {
    const others = this.#parts.live().filter((other) => other !== engine);
    if (others.length === 0) return;
    const other = oneOf(others, this.#parts.chance);
    this.#believe(other.id, engine.id, true, 0);
    this.#believe(other.id, engine.id, false, this.#upTo(6_000));
  }

  #close(engine: Engine): void {
    const { timeline, join } = this.#parts;
    this.stopped.add(engine.id);
    engine.close();
    join();
    const leave = (): void => {
      if (engine.isIdle) this.#kill(engine);
      else timeline.after(500, leave);
    };
    timeline.after(500, leave);
  }

  #believe(viewer: string, engine: string, isDead: boolean, afterMs: number): void {
    const { timeline, beliefs, live, said } = this.#parts;
    timeline.after(afterMs, () => {
      said(viewer, () => `believes ${engine} ${isDead ? 'dead' : 'alive'}`);
      beliefs.set(viewer, engine, isDead, timeline.now);
      if (isDead)
        live()
          .find(({ id }) => id === viewer)
          ?.rouse();
    });
  }

  #upTo(ms: number): number {
    return this.#parts.chance() * ms;
  }
}
