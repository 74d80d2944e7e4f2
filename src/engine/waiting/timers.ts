import TinyQueue from 'tinyqueue';
import { after, type Waiter } from '../../turns.js';

/** Wakes jobs: one heap, one node timer for the earliest. Times epoch ms. */
export type Timers = {
  /** Wakes `id` at `at`; the earlier of two times for one id counts. */
  readonly set: (id: string, at: number) => void;
  readonly clear: (id: string) => void;
  /** When it wakes whom. */
  readonly due: ReadonlyMap<string, number>;
  readonly stop: () => void;
};

type Entry = { readonly id: string; readonly at: number };

const byTime = (a: Entry, b: Entry): number => a.at - b.at;

/** `wait`: another clock than that of the process, which `now` belongs to as well. */
export function createTimers(
  wake: (id: string) => void,
  now: () => number,
  wait: Waiter = after,
): Timers {
  let queue = new TinyQueue<Entry>([], byTime);
  const due = new Map<string, number>();
  let callOff = (): void => undefined;
  let stopped = false;

  const arm = (): void => {
    callOff();
    const next = queue.peek();
    if (next === undefined || stopped) return;
    callOff = wait(Math.max(0, next.at - now()), fire);
  };
  /** Every sweep sets the times of sleeping jobs anew: what no longer counts must not pile up. */
  const tidy = (): void => {
    if (queue.length < 1_000 || queue.length < 2 * due.size) return;
    queue = new TinyQueue(
      [...due].map(([id, at]) => ({ id, at })),
      byTime,
    );
  };
  const fire = (): void => {
    for (let next = queue.peek(); next !== undefined && next.at <= now(); next = queue.peek()) {
      queue.pop();
      if (due.get(next.id) !== next.at) continue;
      due.delete(next.id);
      wake(next.id);
    }
    arm();
  };
  return {
    set: (id, at) => {
      const before = due.get(id);
      if (before !== undefined && before <= at && before > now()) return;
      due.set(id, at);
      queue.push({ id, at });
      tidy();
      // Only the earliest has a timer.
      if (queue.peek()?.at === at) arm();
    },
    clear: (id) => {
      due.delete(id);
    },
    due,
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}
