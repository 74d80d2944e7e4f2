import { byRight, type InLine } from './parking.js';

/** Jobs that wait for a permit of their flow, in the order in which they are to get one. */
export type PermitLines = {
  /** The job waits: lower priority first, then what has begun, then first come. */
  readonly wait: (flow: string, job: InLine) => void;
  /** The job may get a permit, but another engine goes first. */
  readonly yield: (id: string) => void;
  readonly leave: (id: string) => void;
  /** A permit may be free: has the jobs of the line looked at until one finds none. */
  readonly call: (flow: string) => Promise<void>;
  /** The same for all lines. */
  readonly callAll: () => Promise<void>;
};

type Ticket = InLine & { readonly flow: string; readonly number: number };

/** @param recall has a job looked at again; resolves when it stands as it is to stand */
export function createPermitLines(recall: (id: string) => Promise<void>): PermitLines {
  const lines = new Map<string, Map<string, Ticket>>();
  const tickets = new Map<string, Ticket>();
  /** A job keeps its place when it was called in vain. */
  const numbers = new Map<string, number>();
  /** Lines that are being called; true: to be called once more. */
  const calling = new Map<string, boolean>();
  /** Called jobs that got nothing. */
  const unserved = new Set<string>();
  let last = 0;

  const remove = (id: string): void => {
    const flow = tickets.get(id)?.flow;
    tickets.delete(id);
    const line = flow === undefined ? undefined : lines.get(flow);
    line?.delete(id);
    if (flow !== undefined && line?.size === 0) lines.delete(flow);
  };
  const firstOf = (flow: string): Ticket | undefined => {
    let first: Ticket | undefined;
    for (const ticket of lines.get(flow)?.values() ?? []) {
      if (first === undefined || (byRight(ticket, first) || ticket.number - first.number) < 0) {
        first = ticket;
      }
    }
    return first;
  };
  const callOnce = async (flow: string): Promise<void> => {
    for (let next = firstOf(flow); next !== undefined; next = firstOf(flow)) {
      remove(next.id);
      unserved.delete(next.id);
      await recall(next.id);
      if (unserved.delete(next.id)) return;
      numbers.delete(next.id);
    }
  };
  const call = async (flow: string): Promise<void> => {
    if (calling.has(flow)) return void calling.set(flow, true);
    do {
      calling.set(flow, false);
      await callOnce(flow);
    } while (calling.get(flow) === true);
    calling.delete(flow);
  };
  return {
    wait: (flow, job) => {
      remove(job.id);
      const number = numbers.get(job.id) ?? (last += 1);
      numbers.set(job.id, number);
      const ticket = { ...job, flow, number };
      tickets.set(job.id, ticket);
      lines.set(flow, (lines.get(flow) ?? new Map<string, Ticket>()).set(job.id, ticket));
      unserved.add(job.id);
    },
    yield: (id) => {
      remove(id);
      unserved.add(id);
    },
    leave: (id) => {
      remove(id);
      numbers.delete(id);
      unserved.delete(id);
    },
    call,
    callAll: async () => void (await Promise.all([...lines.keys()].map(call))),
  };
}
