import { createLru } from '../../memo.js';
import { keptTurnMs, type RateAsk } from '../../decide/compete/rates.js';
import { rateKeyOf, type RateRequest } from '../../decide/queries.js';
import { byRight, type InLine } from '../waiting/wait-queue.js';

/** A job that asked for a grant and has to wait; `until`: when its turn comes (`Infinity`: it asks). */
export type Ticket = {
  readonly request: RateRequest;
  readonly job: InLine;
  readonly number: number;
  until: number;
  readonly askedAt: number;
};

/** Who wants a grant, as `grantRate` is asked, and of what. */
export type ListedAsk = RateAsk & { readonly request: RateRequest };

/** Those that wait for the grants of each document, in the order of their turns. */
export type RateLines = {
  readonly ticketOf: (id: string, whose: string) => Ticket | undefined;
  readonly inLine: (id: string) => readonly Ticket[];
  /** Puts an attempt into the line; when it asks again it has its former place, also if it had left. */
  readonly place: (request: RateRequest, job: InLine) => Ticket;
  readonly drop: (id: string, whose: string) => void;
  /** Takes a job out of all lines, except for the grants with these keys; answers the ids of what it left. */
  readonly leave: (
    job: string,
    except?: { readonly has: (key: string) => boolean },
  ) => readonly string[];
};

type Line = { readonly byAttempt: Map<string, Ticket>; readonly inOrder: Ticket[] };

/** Maximum number of remembered places. */
const remembered = 20_000;

/** `onWaiting` gets the number of attempts that wait, at each change. */
export function createRateLines(now: () => number, onWaiting: (count: number) => void): RateLines {
  const lines = new Map<string, Line>();
  const ofJob = new Map<string, Set<Ticket>>();
  const numbers = createLru<number>(remembered);
  let last = 0;
  let waiting = 0;
  const remove = (line: Line, ticket: Ticket): void => {
    const { id, for: whose } = ticket.request;
    line.byAttempt.delete(whose);
    line.inOrder.splice(placeIn(line.inOrder, ticket), 1);
    if (line.byAttempt.size === 0) lines.delete(id);
    const tickets = ofJob.get(ticket.job.id);
    tickets?.delete(ticket);
    if (tickets?.size === 0) ofJob.delete(ticket.job.id);
  };
  const drop: RateLines['drop'] = (id, whose) => {
    const line = lines.get(id);
    const ticket = line?.byAttempt.get(whose);
    if (line === undefined || ticket === undefined) return;
    remove(line, ticket);
    onWaiting((waiting -= 1));
  };
  return {
    drop,
    ticketOf: (id, whose) => lines.get(id)?.byAttempt.get(whose),
    inLine: (id) => [...(lines.get(id)?.inOrder ?? [])],
    place: (request, job) => {
      const { id, for: whose } = request;
      const before = lines.get(id)?.byAttempt.get(whose);
      const key = rateKeyOf(request);
      const number = before?.number ?? numbers.get(key) ?? (last += 1);
      numbers.set(key, number);
      const ticket = { request, job, number, until: Infinity, askedAt: now() };
      if (before === undefined) onWaiting((waiting += 1));
      else remove(lines.get(id) as Line, before);
      const line = lines.get(id) ?? { byAttempt: new Map<string, Ticket>(), inOrder: [] };
      lines.set(id, line);
      line.byAttempt.set(whose, ticket);
      line.inOrder.splice(placeIn(line.inOrder, ticket), 0, ticket);
      ofJob.set(job.id, (ofJob.get(job.id) ?? new Set<Ticket>()).add(ticket));
      return ticket;
    },
    leave: (job, except) => {
      const tickets = [...(ofJob.get(job) ?? [])];
      const left = tickets.filter(({ request }) => except?.has(rateKeyOf(request)) !== true);
      for (const { request } of left) drop(request.id, request.for);
      return left.map(({ request }) => request.id);
    },
  };
}

/** So many that wait are looked at for each request; the others are only counted. */
const mostListed = 500;

/** Those that ask and those that wait, in the order of their turns; who missed its turn waits no more. */
export function listAsks(
  line: readonly Ticket[],
  asked: ReadonlySet<string>,
  now: number,
): readonly ListedAsk[] {
  const asks: ListedAsk[] = [];
  let waiting = 0;
  let skipped = 0;
  for (const ticket of line) {
    const { request, until } = ticket;
    const isAsking = asked.has(request.for);
    if (!isAsking && (until === Infinity || hasMissedTurn(ticket, now))) continue;
    if (!isAsking && (waiting += 1) > mostListed) {
      skipped += 1;
      continue;
    }
    const { for: whose, limit, perMs } = request;
    asks.push({ for: whose, limit, perMs, isAsking, request, ...(skipped > 0 && { skipped }) });
    skipped = 0;
  }
  return asks;
}

/** Whether the turn of one that waits has passed: a place is kept for it no more. */
export function hasMissedTurn({ until }: Ticket, now: number): boolean {
  return until + keptTurnMs <= now;
}

/** Where a ticket is in a line, or belongs. */
function placeIn(line: readonly Ticket[], ticket: Ticket): number {
  let from = 0;
  let to = line.length;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (inTurn(line[middle] as Ticket, ticket) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function inTurn(a: Ticket, b: Ticket): number {
  return byRight(a.job, b.job) || a.number - b.number;
}
