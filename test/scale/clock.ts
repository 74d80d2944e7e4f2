import TinyQueue from 'tinyqueue';
import { t0 } from '../support/builders.js';

/**
 * A virtual clock: time goes on to the next moment for which something is planned.
 *
 * V1 Nothing happens but by an event; of events at the same moment the one planned first is first.
 * V2 What an event resolved has gone on before the next event.
 */
export type Clock = {
  /** Epoch ms, with fractions. */
  readonly now: () => number;
  /** Plans something; the answer calls it off. */
  readonly wait: (ms: number, over: () => void) => () => void;
  /** Resolves as an event of this moment. */
  readonly turn: () => Promise<void>;
  /** What follows hangs on promises: they go on before the next event. */
  readonly settle: () => void;
  /** Runs events until `isOver`, or until there are none. */
  readonly run: (isOver: () => boolean) => Promise<void>;
};

/** So many turns of promises follow one event at most. */
const mostTurns = 12;

type Event = { readonly at: number; readonly number: number; over: (() => void) | undefined };

const inTime = (a: Event, b: Event): number => a.at - b.at || a.number - b.number;

export function createClock(): Clock {
  const queue = new TinyQueue<Event>([], inTime);
  let now = t0;
  let last = 0;
  let isOpen = false;
  const wait: Clock['wait'] = (ms, over) => {
    const event: Event = { at: now + ms, number: (last += 1), over };
    queue.push(event);
    return () => void (event.over = undefined);
  };
  return {
    now: () => now,
    wait,
    settle: () => void (isOpen = true),
    turn: () =>
      new Promise((resolve) => {
        wait(0, () => {
          isOpen = true;
          resolve();
        });
      }),
    run: async (isOver) => {
      while (!isOver()) {
        const event = queue.pop();
        if (event === undefined) return;
        if (event.over === undefined) continue;
        now = event.at;
        event.over();
        if (!isOpen) continue;
        isOpen = false;
        for (let turns = 0; turns < mostTurns; turns += 1) await Promise.resolve();
      }
    },
  };
}
