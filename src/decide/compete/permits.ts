import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { isOpen, type Failure, type Step } from '../../model/step.js';
import { acquire, lookUp, type Acquire, type Query, type Question } from '../queries.js';
import type { PermitAnswer, TemplateContext, World } from '../world.js';
import type { Wait } from '../intent.js';
import { displacement } from './displace.js';
import {
  distinct,
  keyedLimit,
  limitsOfFlow,
  permitText,
  type KeyedLimit,
  type Limit,
} from './limits.js';

/** Who asks for permits: a job, or an attempt of a step. */
export type PermitAsking = {
  readonly limits: readonly Limit[];
  /** What keys are evaluated over. */
  readonly context: TemplateContext;
  /** Path of the step. */
  readonly step?: string;
  /** Only engines that can run it ask. */
  readonly forTask?: Acquire['forTask'];
};

/**
 * The result of asking for permits. `ids`: the locks that hold them, by where the definition has
 * the limit. `open`: something must be found out first, or they must be waited for.
 */
export type Permitting =
  | { readonly kind: 'held'; readonly ids: ReadonlyMap<string, string> }
  | { readonly kind: 'open'; readonly move: Query | Acquire | Wait }
  /** All are taken, and the limit cancels new work. */
  | { readonly kind: 'cancelled'; readonly failure: Failure }
  /** The definition is wrong, or the store refuses the permit. */
  | { readonly kind: 'failed'; readonly failure: Failure };

/**
 * Takes the permits of all limits, or none: of those that are asked for together none is held while another
 * one is missing. A job keeps those of its flow while its steps wait for theirs.
 */
export function permitting(job: LiveJob, asking: PermitAsking, world: World): Permitting {
  const keyed = withKeys(asking, world);
  if (!Array.isArray(keyed)) return keyed as Permitting;
  const limits = keyed as readonly KeyedLimit[];
  const { step, forTask } = asking;
  const wants = distinct(
    step === undefined ? limits : limits.filter((limit) => !hasPermit(job, limit, world)),
  );
  if (wants.length === 0) return { kind: 'held', ids: new Map() };
  const keys = wants.map(({ key }) => key).join(' & ');
  const id = step === undefined ? keys : `${step} ${keys}`;
  const answer = world.permit(id);
  if (answer.kind === 'unknown') {
    const over = endedPermits(job.steps);
    const request = {
      ...{ id, wants: wants.map(wantOf) },
      ...(step === undefined ? {} : { step }),
      ...(over.length === 0 ? {} : { over }),
    };
    const move = acquire({ permits: [request], ...(forTask === undefined ? {} : { forTask }) });
    return { kind: 'open', move };
  }
  if (answer.kind === 'held') {
    const ids = new Map(wants.map(({ key }, i) => [key, String(answer.ids[i])]));
    const held = limits.flatMap(({ at, key }) => {
      const one = ids.get(key);
      return one === undefined ? [] : [[at, one] as const];
    });
    return { kind: 'held', ids: new Map(held) };
  }
  if (answer.kind === 'refused') {
    return { kind: 'failed', failure: failure('StoreRefused', { reason: answer.reason }) };
  }
  const limit = limits.find(({ key }) => key === answer.key) as KeyedLimit;
  return unheld(job, { limit, answer, ...(step === undefined ? {} : { step }) }, world);
}

/** The permits of attempts that have ended, as far as no attempt has them that goes on. */
function endedPermits(steps: readonly Step[]): readonly string[] {
  const listing = steps.filter(({ permits }) => permits !== undefined);
  const open = new Set(listing.filter(isOpen).flatMap(permitsOf));
  const ended = new Set(listing.filter((step) => !isOpen(step)).flatMap(permitsOf));
  return [...ended].filter((id) => !open.has(id));
}

const permitsOf = ({ permits = [] }: Step): readonly string[] => permits;

/** The job, or the one of which it is a slice, has a permit of that limit: its steps need no other one. */
function hasPermit(
  { flow_definition: flow, locked, slice }: LiveJob,
  limit: KeyedLimit,
  world: World,
): boolean {
  const held: readonly string[] = slice?.permits ?? locked?.permits ?? [];
  if (held.length === 0) return false;
  const { identity, key } = limit;
  const numbers = limitsOfFlow(flow).map((one) => (one.identity === identity ? one.most : 0));
  return Array.from({ length: Math.max(0, ...numbers) }, (_, n) => permitText(key, n)).some(
    (text) => held.includes(world.lockId(text)),
  );
}

function wantOf({ key, most, strategy, value }: KeyedLimit): KeyedLimitWant {
  return { key, most, strategy, ...(value === undefined ? {} : { value }) };
}

type KeyedLimitWant = Omit<KeyedLimit, 'title' | 'at' | 'identity'>;

/** The limits with their keys, or what must be found out, or what is wrong. */
function withKeys(
  { limits, context, step }: PermitAsking,
  world: World,
): readonly KeyedLimit[] | Exclude<Permitting, { kind: 'held' }> {
  const idOf = (at: string): string => `${step === undefined ? 'flow' : step}.${at}.key`;
  const questions = limits.flatMap(({ at, key }): readonly Question[] =>
    key === undefined ? [] : [{ id: idOf(at), expression: key, context }],
  );
  const open = questions.filter(({ id }) => !world.answers.has(id));
  if (open.length > 0) return { kind: 'open', move: lookUp({ questions: open }) };
  const keyed: KeyedLimit[] = [];
  for (const limit of limits) {
    const answer = limit.key === undefined ? undefined : world.answers.get(idOf(limit.at));
    if (answer?.ok === false) {
      const { reason } = answer;
      return { kind: 'failed', failure: failure('LimitKeyError', { limit: limit.title, reason }) };
    }
    keyed.push(keyedLimit(limit, answer?.value ?? null, world.lockId));
  }
  return keyed;
}

type Unheld = {
  readonly limit: KeyedLimit;
  readonly answer: Extract<PermitAnswer, { kind: 'full' | 'behind' }>;
  readonly step?: string;
};

/** No permit is free: returns what the strategy of the limit demands. */
function unheld(job: LiveJob, { limit, answer, step }: Unheld, world: World): Permitting {
  if (answer.kind === 'behind') {
    // They may belong to other owners, who alone may know their ids.
    const because = `It waits for a permit of ${limit.title}; earlier jobs are ahead (${answer.by.length}).`;
    return waitFor(limit, [], because);
  }
  const { by } = answer;
  switch (limit.strategy) {
    case 'cancel_newest': {
      // Nothing is cancelled for a job that may not begin: whether it does shows in a moment.
      if (by.some(({ undecided }) => undecided)) return waitFor(limit, by, fullText(limit, by));
      const told = { limit: limit.title, most: limit.most, by: named(by) };
      return { kind: 'cancelled', failure: failure('LimitReached', told) };
    }
    case 'cancel_oldest': {
      const move = displacement(job, { limit, by, ...(step === undefined ? {} : { step }) }, world);
      return move === undefined ? waitFor(limit, by, fullText(limit, by)) : { kind: 'open', move };
    }
    case 'queue':
    case 'round_robin':
      return waitFor(limit, by, fullText(limit, by));
  }
}

function waitFor({ key, title, most }: KeyedLimit, by: Holders, because: string): Permitting {
  const lines = [{ key, title, most, by }];
  return { kind: 'open', move: { kind: 'wait', because, for: 'permit', lines } };
}

type Holders = Extract<PermitAnswer, { kind: 'full' }>['by'];

function fullText({ title, most }: KeyedLimit, by: Holders): string {
  const jobs = named(by);
  return `All permits of ${title} are taken (${most})${jobs === '' ? '' : `: ${jobs}`}.`;
}

/** So many holders are named. */
const mostNamed = 5;

/** The jobs that have the permits, as far as the owner of the job may know them. */
function named(by: Holders): string {
  const ids = [...new Set(by.flatMap(({ job, foreign }) => (foreign === true ? [] : [job])))];
  const shown = ids.slice(0, mostNamed);
  const left = ids.length - shown.length;
  const foreign = new Set(by.flatMap((one) => (one.foreign === true ? [one.job] : []))).size;
  const parts = [
    ...(ids.length === 0 ? [] : [shown.join(', ')]),
    ...(left === 0 ? [] : [`${left} more`]),
    ...(foreign === 0 ? [] : [`${foreign} of other owners`]),
  ];
  return parts.join(' and ');
}
