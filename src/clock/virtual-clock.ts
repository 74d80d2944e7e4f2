import TinyQueue from 'tinyqueue';
import type { Waiter } from '../turns.js';
import type { Clock, Waits } from './clock.js';

/**
 * A clock whose time goes on to the next moment for which something is planned.
 *
 * Y3 Nothing happens but by an event; of events at the same moment the one planned first is first.
 * Y4 What an event caused has settled before the next event.
 * Y5 Upkeep happens in its time for `quietMs` after the last other event; then it stands still, as on a
 *    machine that sleeps, until the next one. By `steady` that time has not passed.
 */
export type VirtualClock = Clock & {
  /** Resolves as an event of this moment. */
  readonly turn: () => Promise<void>;
  /** Something happened without an event: upkeep goes on from now (Y5). */
  readonly stir: () => void;
  /** Runs events until `isOver`; false: there are none any more. */
  readonly run: (isOver: () => boolean) => Promise<boolean>;
};

export type VirtualClockOptions = {
  /** When it begins, epoch ms; 0 when left out. */
  readonly from?: number;
  /** Resolves when what the last event caused has settled; undefined: nothing is under way. */
  readonly settle?: () => Promise<void> | undefined;
  /** How long upkeep goes on by itself, ms; left out: for ever. */
  readonly quietMs?: number;
};

/** `at`: of upkeep by the steady time, of all others by the time of the clock. */
type Planned = { readonly at: number; readonly number: number; over: (() => void) | undefined };

const inTime = (a: Planned, b: Planned): number => a.at - b.at || a.number - b.number;

type Plan = { readonly add: (at: number, over: () => void) => () => void } & {
  readonly first: () => Planned | undefined;
  readonly take: () => void;
};

export function createVirtualClock({
  from = 0,
  settle = () => undefined,
  quietMs = Infinity,
}: VirtualClockOptions = {}): VirtualClock {
  let count = 0;
  const number = (): number => (count += 1);
  const events = createPlan(number);
  const upkeep = createPlan(number);
  let time = from;
  /** What the clock has gone on while upkeep stood still. */
  let skipped = 0;
  let stirredAt = from;
  const after: Waiter = (ms, over) =>
    ms === Infinity ? () => undefined : events.add(time + Math.max(0, ms), over);
  const steady = (): number => time - skipped;
  /** The next event, with the clock set to its time. */
  const next = (): Planned | undefined => {
    const [event, duty] = [events.first(), upkeep.first()];
    const dutyAt = duty === undefined ? Infinity : duty.at + skipped;
    const eventAt = event?.at ?? Infinity;
    const isFirst = dutyAt < eventAt || (dutyAt === eventAt && isEarlier(duty, event));
    if (duty !== undefined && isFirst && dutyAt <= stirredAt + quietMs) {
      upkeep.take();
      time = Math.max(time, dutyAt);
      return duty;
    }
    if (event === undefined) return undefined;
    events.take();
    // Upkeep that was due meanwhile stood still.
    if (duty !== undefined && isFirst) skipped += event.at - Math.max(time, stirredAt + quietMs);
    time = Math.max(time, event.at);
    stirredAt = time;
    return event;
  };
  return {
    now: () => time,
    steady,
    ...waitsBy(after),
    upkeep: waitsBy((ms, over) =>
      ms === Infinity ? () => undefined : upkeep.add(steady() + Math.max(0, ms), over),
    ),
    turn: () => new Promise((resolve) => void after(0, resolve)),
    stir: () => {
      stirredAt = time;
    },
    run: async (isOver) => {
      await settle();
      while (!isOver()) {
        const event = next();
        if (event === undefined) return false;
        event.over?.();
        const settled = settle();
        if (settled !== undefined) await settled;
      }
      return true;
    },
  };
}

function isEarlier(a: Planned | undefined, b: Planned | undefined): boolean {
  return (a?.number ?? 0) < (b?.number ?? 0);
}

function createPlan(number: () => number): Plan {
  const queue = new TinyQueue<Planned>([], inTime);
  return {
    add: (at, over) => {
      const planned: Planned = { at, number: number(), over };
      queue.push(planned);
      return () => void (planned.over = undefined);
    },
    first: () => {
      // What was called off is no event.
      for (let one = queue.peek(); one !== undefined && one.over === undefined;) {
        queue.pop();
        one = queue.peek();
      }
      return queue.peek();
    },
    take: () => void queue.pop(),
  };
}

function waitsBy(after: Waiter): Waits {
  return {
    after,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const end = (): void => {
          signal?.removeEventListener('abort', end);
          callOff();
          resolve();
        };
        const callOff = after(ms, end);
        signal?.addEventListener('abort', end);
      }),
  };
}
