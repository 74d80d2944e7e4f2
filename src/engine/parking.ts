import TinyQueue from 'tinyqueue';

/** Jobs that wait for something of this process or of the others, not for a time. */
export type Parking = {
  /** Waits for a slot here: lower priority first, then first come. */
  readonly forSlot: (id: string, priority: number) => void;
  /** Waits for a change elsewhere: a definition, a pause, a plugin on another engine. */
  readonly forChange: (id: string) => void;
  /** Waits for the end of an attempt of that engine. */
  readonly forEngine: (id: string, engine: string) => void;
  readonly leave: (id: string) => void;
  /** The job that gets the next free slot. */
  readonly nextForSlot: () => string | undefined;
  /** All that wait for a change or a slot. */
  readonly parked: () => readonly string[];
  /** The jobs whose attempts that engine had. */
  readonly takeOf: (engine: string) => readonly string[];
};

type Ticket = { readonly id: string; readonly priority: number; readonly number: number };

export function createParking(): Parking {
  const queue = new TinyQueue<Ticket>([], (a, b) => a.priority - b.priority || a.number - b.number);
  const tickets = new Map<string, Ticket>();
  const changes = new Set<string>();
  const engineOf = new Map<string, string>();
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
    const engine = engineOf.get(id);
    if (engine === undefined) return;
    engineOf.delete(id);
    byEngine.get(engine)?.delete(id);
  };
  return {
    leave,
    forSlot: (id, priority) => {
      leavePlace(id);
      const number = numbers.get(id) ?? (last += 1);
      numbers.set(id, number);
      const ticket = { id, priority, number };
      tickets.set(id, ticket);
      queue.push(ticket);
    },
    forChange: (id) => {
      leave(id);
      changes.add(id);
    },
    forEngine: (id, engine) => {
      leave(id);
      engineOf.set(id, engine);
      const ids = byEngine.get(engine) ?? new Set<string>();
      byEngine.set(engine, ids.add(id));
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
