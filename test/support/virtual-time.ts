type Planned = { readonly at: number; readonly number: number; readonly happen: () => void };

/** Time that passes only as far as something happens in it, for simulations. Times in ms. */
export type VirtualTime = {
  readonly now: () => number;
  readonly after: (ms: number, happen: () => void) => void;
  /** Has everything happen in its order until it is over. */
  readonly run: (isOver: () => boolean) => Promise<void>;
};

export function createVirtualTime(): VirtualTime {
  let time = 0;
  let number = 0;
  const events: Planned[] = [];
  return {
    now: () => time,
    after: (ms, happen) => {
      number += 1;
      const event = { at: time + Math.max(0, ms), number, happen };
      let place = events.length;
      while (place > 0 && isLater(events[place - 1], event)) place -= 1;
      events.splice(place, 0, event);
    },
    run: async (isOver) => {
      while (!isOver()) {
        const event = events.shift();
        if (event === undefined) throw new Error('Nothing happens any more.');
        time = event.at;
        event.happen();
        // What follows from it at once.
        await new Promise((next) => setImmediate(next));
      }
    },
  };
}

function isLater(a: Planned | undefined, b: Planned): boolean {
  return a !== undefined && (a.at > b.at || (a.at === b.at && a.number > b.number));
}

/** Numbers that follow from a seed, from 0 to below `most`. */
export function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
