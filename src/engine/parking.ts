import TinyQueue from 'tinyqueue';

/** Jobs that wait for something of this process or of the others, not for a time. */
export type Parking = {
  /** Waits for a slot here: lower priority first, then lower rank, then first come. */
  readonly forSlot: (id: string, priority: number, rank: number) => void;
  /** Waits for a change elsewhere: a definition, a pause, a plugin on another engine. */
  readonly forChange: (id: string) => void;
  /** Has attempts that run on these engines, whatever else it waits for. */
  readonly watch: (id: string, engines: readonly string[]) => void;
  readonly leave: (id: string) => void;
  /** The job that gets the next free slot. */
  readonly nextForSlot: () => string | undefined;
  /** All that wait for a change or a slot. */
  readonly parked: () => readonly string[];
  /** The jobs whose attempts that engine had. */
  readonly takeOf: (engine: string) => readonly string[];
};

type Ticket = {
  readonly id: string;
  readonly priority: number;
  readonly rank: number;
  readonly number: number;
};

const byTurn = (a: Ticket, b: Ticket): number =>
  a.priority - b.priority || a.rank - b.rank || a.number - b.number;

export function createParking(): Parking {
  let queue = new TinyQueue<Ticket>([], byTurn);
  const tickets = new Map<string, Ticket>();
  const changes = new Set<string>();
  const enginesOf = new Map<string, readonly string[]>();
  const byEngine = new Map<string, Set<string>>();
  /** A job keeps its place when it was called and got no slot after all. */
  const numbers = new Map<string, number>();
  let last = 0;

  const leave = (id: string): void => {
    numbers.delete(id);
    leavePlace(id);
  };
  const leavePlace = (id: string): void => {
    tickets.delete(id);
    changes.delete(id);
    for (const engine of enginesOf.get(id) ?? []) byEngine.get(engine)?.delete(id);
    enginesOf.delete(id);
  };
  /** Every sweep parks waiting jobs anew: tickets that no longer count must not pile up. */
  const tidy = (): void => {
    if (queue.length < 1_000 || queue.length < 2 * tickets.size) return;
    queue = new TinyQueue([...tickets.values()], byTurn);
  };
  return {
    leave,
    forSlot: (id, priority, rank) => {
      leavePlace(id);
      const number = numbers.get(id) ?? (last += 1);
      numbers.set(id, number);
      const ticket = { id, priority, rank, number };
      tickets.set(id, ticket);
      queue.push(ticket);
      tidy();
    },
    forChange: (id) => {
      leave(id);
      changes.add(id);
    },
    watch: (id, engines) => {
      if (engines.length === 0) return;
      enginesOf.set(id, engines);
      for (const engine of engines) {
        const ids = byEngine.get(engine) ?? new Set<string>();
        byEngine.set(engine, ids.add(id));
      }
    },
    // The number stays: only leave() gives the place up.
    nextForSlot: () => {
      for (let ticket = queue.pop(); ticket !== undefined; ticket = queue.pop()) {
        if (tickets.get(ticket.id) !== ticket) continue;
        tickets.delete(ticket.id);
        return ticket.id;
      }
      return undefined;
    },
    parked: () => [...tickets.keys(), ...changes],
    takeOf: (engine) => {
      const ids = [...(byEngine.get(engine) ?? [])];
      ids.forEach(leave);
      byEngine.delete(engine);
      return ids;
    },
  };
}
