import type { Announced, Child } from '../../../src/decide/world.js';
import type { ChildJob } from '../../../src/decide/intent.js';
import type { EventName } from '../../../src/decide/queries.js';
import { share } from '../../../src/decide/finish/retry.js';
import { eventId } from '../../../src/model/event.js';
import type { FinalJob } from '../../../src/model/job.js';
import { t0 } from '../../support/builders.js';

/** An event that is announced at a time, in ms after the start. */
export type EventAt = { readonly at: number; readonly name: EventName };

/** What is not in the job: its children, and the events that are announced. Times epoch ms. */
export class Outside {
  readonly #seed: number;
  readonly #events: Map<string, number>;
  readonly #children = new Map<string, ChildOutside>();

  constructor(seed: number, events: readonly EventAt[]) {
    this.#seed = seed;
    this.#events = new Map(events.map(({ at, name }) => [eventId(name), t0 + at]));
  }

  child(id: string, now: number): Child {
    const child = this.#children.get(id);
    if (child === undefined) return { kind: 'absent' };
    return child.endsAt > now ? { kind: 'live' } : { kind: 'final', job: finalJob(id, child) };
  }

  event(type: string, key: string, now: number): Announced {
    const at = this.#events.get(eventId({ type, key })) ?? Infinity;
    return at > now
      ? { kind: 'absent' }
      : { kind: 'found', events: [{ id: eventId({ type, key }), at, isFact: true, data: type }] };
  }

  announce(name: EventName, now: number): void {
    this.#events.set(eventId(name), now);
  }

  /** Child jobs are made; one that is there stays as it is, or goes on when it has ended. */
  spawn(children: readonly ChildJob[], now: number): void {
    for (const { _id, ...wish } of children) {
      const there = this.#children.get(_id);
      if (there !== undefined && (there.endsAt > now || !('retry' in wish))) continue;
      const run = (there?.run ?? 0) + 1;
      const drawn = share(`${_id}:${this.#seed}${run === 1 ? '' : `:${run}`}`);
      this.#children.set(_id, { endsAt: now + drawn * 6_000, exit: drawn < 0.25 ? 2 : 0, run });
    }
  }

  /** Child jobs are asked to cancel, and do; one that is not there yet comes up cancelled. */
  abandon(ids: readonly string[], now: number): void {
    for (const id of ids) {
      const child = this.#children.get(id) ?? { endsAt: Infinity, exit: 130, run: 1 };
      if (child.endsAt > now) this.#children.set(id, { ...child, endsAt: now, exit: 130 });
    }
  }

  /** Ids of the child jobs that nobody waits for any more and that were not told so. */
  orphans(waiting: ReadonlySet<string>, now: number): readonly string[] {
    const live = [...this.#children].filter(([, { endsAt }]) => endsAt > now);
    return live.map(([id]) => id).filter((id) => !waiting.has(id));
  }

  /** When something changes. */
  moments(): readonly number[] {
    return [...this.#events.values(), ...[...this.#children.values()].map(({ endsAt }) => endsAt)];
  }
}

type ChildOutside = { readonly endsAt: number; readonly exit: number; readonly run: number };

function finalJob(_id: string, { exit, run, endsAt: end }: ChildOutside): FinalJob {
  const state = exit === 130 ? '$$cancelled' : '$$complete';
  const result = { child: _id };
  return { _id, _rev: '9-x', type: 'job', flow: 'sub', state, end, exit, run, steps: [], result };
}
