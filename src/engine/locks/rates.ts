import { createLru } from '../../memo.js';
import { graceOf } from '../../decide/compete/rates.js';
import type { RateRequest } from '../../decide/queries.js';
import type { RateAnswer } from '../../decide/world.js';
import type { LiveStep } from '../../model/step.js';
import type { InLine } from '../waiting/wait-queue.js';
import { gather } from './gather.js';
import {
  createRateLines,
  hasMissedTurn,
  listAsks,
  type RateLines,
  type Ticket,
} from './rate-lines.js';
import { createSightings, type Sightings } from '../../store/rate-sightings.js';
import { looksFull, takeGrants, type TakingParts } from './take-grants.js';

/** The grants of rate limits, as documents that all engines change by compare-and-set. */
export type Rates = {
  /** Takes a grant, if one is free and it is the turn of the job; else says when to ask again. */
  readonly take: (request: RateRequest, job: InLine) => Promise<RateAnswer>;
  /** Whether it looks as if there were no room: nothing is taken. */
  readonly isFull: (request: RateRequest) => Promise<boolean>;
  /** The jobs that have asked for a grant and were not left since. */
  readonly concerned: ReadonlySet<string>;
  /**
   * These steps of a job are stored and about to begin (none: its children): resolves when their grants count
   * long enough for that. One that was taken too long ago is asked for again.
   */
  readonly used: (job: string, steps: readonly Pick<LiveStep, 'path'>[]) => Promise<void>;
  /** The feed has brought a revision of a document, or its end (undefined). */
  readonly saw: (id: string, rev: string | undefined) => void;
  /**
   * A decision has ended with a wait: the job keeps its places only in the lines of the grants that it asked
   * for, by `rateKeyOf`. One that waits for something else holds up nobody.
   */
  readonly leaveOthers: (job: string, asked: { readonly has: (key: string) => boolean }) => void;
  /** A job waits for no grant any more. */
  readonly leave: (job: string) => void;
};

export type RatesParts = TakingParts & {
  /** Waits so many ms, unless the engine ends. */
  readonly wait: (ms: number) => Promise<void>;
  /** Has a job looked at again. */
  readonly rouse: (job: string) => void;
  /** So many grants were taken. */
  readonly onGrants?: (count: number) => void;
  /** So many attempts wait here now. */
  readonly onWaiting?: (count: number) => void;
};

/** So long an answer is believed, ms. */
const believedMs = 1_000;
/** So long after the grace of what was taken a line is looked at, ms: the one that took it may begin late. */
const looksAfterMs = 50;
/** So much sooner a turn is told at once, ms. */
const soonerMs = 50;
/** So many documents are kept in mind. */
const remembered = 2_000;

/** Makes what takes the grants for an engine. */
export function createRates(parts: RatesParts): Rates {
  const { now, steady } = parts;
  const lines = createRateLines(now, (count) => parts.onWaiting?.(count));
  const unused = createUnused();
  const concerned = new Set<string>();
  const cache = createLru<Known>(remembered);
  const knownOf = (id: string): Known => {
    const there = cache.get(id);
    if (there !== undefined) return there;
    const sightings = createSightings(steady);
    const ask = gather((asked: readonly Ticket[]) =>
      answerAll(parts, lines, { id, asked, sightings }),
    );
    const made = { sightings, ask };
    cache.set(id, made);
    return made;
  };
  const watch = createWatch(parts, lines, (id) =>
    answerAll(parts, lines, { id, asked: [], sightings: knownOf(id).sightings }),
  );
  const take: Rates['take'] = async (request, job) => {
    const { id, for: whose } = request;
    concerned.add(job.id);
    const before = lines.ticketOf(id, whose);
    const isFresh = before !== undefined && now() < before.askedAt + believedMs;
    if (isFresh && now() < before.until && before.until !== Infinity) {
      return { kind: 'full', until: before.until };
    }
    const answerTo = await knownOf(id).ask(lines.place(request, job));
    const { answer, usableTo } = answerTo(whose);
    if (answer.kind === 'held') unused.add({ request, job, usableTo });
    return answer;
  };
  return {
    ...{ take, concerned },
    leaveOthers: (job, asked) => lines.leave(job, asked).forEach(watch),
    isFull: (request) => looksFull(parts, knownOf(request.id).sightings, request),
    used: createUse(parts, unused, take),
    saw: (id, rev) => {
      const of = cache.get(id);
      if (rev === undefined) of?.sightings.forget();
      else of?.sightings.saw(Number.parseInt(rev, 10));
      watch(id);
    },
    leave: (job) => {
      if (!concerned.delete(job)) return;
      lines.leave(job).forEach(watch);
      unused.drop(job);
    },
  };
}

/**
 * Looks at a line a moment after another engine took grants, or jobs have left it. The engine may have died
 * before an attempt began, and whoever comes next then may go sooner than it was told.
 */
function createWatch(
  { wait, retry, life }: RatesParts,
  lines: RateLines,
  look: (id: string) => Promise<unknown>,
): (id: string) => void {
  /** The lines that will be looked at; true: once more after that. */
  const watched = new Map<string, boolean>();
  const watchLine = async (id: string): Promise<void> => {
    do {
      watched.set(id, false);
      const [first] = lines.inLine(id);
      if (first === undefined) break;
      await wait(graceOf(first.request.perMs) + looksAfterMs);
      if (!life.aborted) await retry(() => look(id));
    } while (watched.get(id) === true && !life.aborted);
    watched.delete(id);
  };
  return (id) => {
    if (watched.has(id)) watched.set(id, true);
    else void watchLine(id);
  };
}

/** A grant that an attempt has and that has not begun; `usableTo`: by the clock that never jumps. */
type Unused = { readonly request: RateRequest; readonly job: InLine; readonly usableTo: number };

function createUnused() {
  const byJob = new Map<string, Map<string, Unused>>();
  return {
    add: (one: Unused): void => {
      const { request, job } = one;
      const ofJob = byJob.get(job.id) ?? new Map<string, Unused>();
      byJob.set(job.id, ofJob.set(`${request.id} ${request.for}`, one));
    },
    of: (job: string): readonly Unused[] => [...(byJob.get(job)?.values() ?? [])],
    drop: (job: string, isOver: (one: Unused) => boolean = () => true): void => {
      const ofJob = byJob.get(job);
      for (const [key, one] of ofJob ?? []) if (isOver(one)) ofJob?.delete(key);
      if (ofJob?.size === 0) byJob.delete(job);
    },
  };
}

/** Makes what sees to it that no attempt begins with a grant that was taken too long ago. */
function createUse(
  { steady, now, wait, life }: RatesParts,
  unused: ReturnType<typeof createUnused>,
  take: Rates['take'],
): Rates['used'] {
  return async (job, steps) => {
    const paths = new Set(steps.map(({ path }) => path));
    const isBegun = ({ request }: Unused): boolean =>
      paths.size === 0 || paths.has(request.attempt);
    const isLate = (one: Unused): boolean => one.usableTo < steady() && isBegun(one);
    for (;;) {
      const late = unused.of(job).find(isLate);
      if (late === undefined || life.aborted) break;
      const answer = await take(late.request, late.job);
      if (answer.kind === 'full') await wait(answer.until - now());
      else if (answer.kind !== 'held') break;
    }
    unused.drop(job, isBegun);
  };
}

type Asked = {
  readonly id: string;
  readonly asked: readonly Ticket[];
  readonly sightings: Sightings;
};

/** Answers those that ask at the same time, and has those looked at that could have a grant by now. */
async function answerAll(
  parts: RatesParts,
  lines: RateLines,
  { id, asked, sightings }: Asked,
): Promise<Answers> {
  const { now, rouse } = parts;
  const asking = new Set(asked.map(({ request }) => request.for));
  const asksOf = () => listAsks(lines.inLine(id), asking, now());
  const result = await takeGrants(parts, sightings, asksOf);
  if (result.kind === 'refused') {
    for (const whose of asking) lines.drop(id, whose);
    return () => ({ answer: result, usableTo: 0 });
  }
  const { usableTo } = result;
  const { held, until } = result.outcome;
  const ready = new Set(result.outcome.ready);
  if (held.size > 0) parts.onGrants?.(held.size);
  let isFirst = true;
  for (const ticket of lines.inLine(id)) {
    const { for: whose } = ticket.request;
    const at = until.get(whose);
    if (at !== undefined) {
      // Others that were before it have left.
      const isSooner = isFirst && !asking.has(whose) && at + soonerMs < ticket.until;
      isFirst = false;
      ticket.until = at;
      if (isSooner) rouse(ticket.job.id);
    } else if (ready.has(whose)) {
      // One that was told already is not told again: its turn among the engines would begin anew.
      const isTold = ticket.until <= now();
      ticket.until = Math.min(ticket.until, now());
      if (!isTold) rouse(ticket.job.id);
    } else if (asking.has(whose) || hasMissedTurn(ticket, now())) lines.drop(id, whose);
  }
  return (whose) => {
    if (held.has(whose)) return { answer: { kind: 'held' }, usableTo };
    return { answer: { kind: 'full', until: until.get(whose) ?? now() }, usableTo };
  };
}

type Answers = (whose: string) => { readonly answer: RateAnswer; readonly usableTo: number };
type Known = {
  readonly sightings: Sightings;
  readonly ask: (ticket: Ticket) => Promise<Answers>;
};
