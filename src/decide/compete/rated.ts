import { failure } from '../../model/failures.js';
import { canonical } from '../../model/canonical.js';
import type { LiveJob } from '../../model/job.js';
import type { RateLimit } from '../../model/rate.js';
import { writtenSpanMs } from '../../model/span.js';
import { exits, isFailed, isOpen, type Step } from '../../model/step.js';
import { keyOf, ownerOf, type Task } from '../../model/task.js';
import { hasBegun } from '../../reading/attempts.js';
import { delayedUntil, expiryOf, hardDeadline, untilOf } from '../../reading/clock.js';
import { queueOf } from '../../reading/entries.js';
import type { Beginning } from '../../structures/progress.js';
import type { Begun } from '../intent.js';
import { acquire, lookUp, type Acquire, type Question, type RateRequest } from '../queries.js';
import { failUnbegun } from '../start/attempt.js';
import { failureFor } from '../start/failure-for.js';
import { inputOf, type Input } from '../start/prepare.js';
import { newAttempt } from '../steps.js';
import type { World } from '../world.js';
import { storedKey } from './limits.js';

/** A step that may begin, with its task where it has one. */
type RatedStep = Beginning & { readonly task?: Task };

/** A rate that limits a step, and what it is that of. */
type RateOf = {
  readonly rate: RateLimit;
  readonly kind: 'flow' | 'queue' | 'task';
  /** Name of what has it, and its owner: a queue has none, and its named rate is one of `DEFAULT`. */
  readonly name: string;
  readonly owner?: string | undefined;
};

/**
 * Takes what the rates of the flow, the queue and the task of a step ask for before it begins. Undefined:
 * it has that, or nothing limits it.
 */
export function rateMove(
  job: LiveJob,
  step: RatedStep,
  now: number,
  world: World,
): Begun | Acquire | undefined {
  const rates = ratesOf(job, step, world);
  if (rates.length === 0) return undefined;
  const keyed = rates.filter(({ rate }) => rate.key !== undefined);
  const asked = keyed.length === 0 ? [] : questionsOf(job, step, keyed, world);
  if ('kind' in asked) return asked;
  const open = asked.filter(({ id }) => !world.answers.has(id));
  if (open.length > 0) return lookUp({ questions: open });
  const requests: RateRequest[] = [];
  for (const one of rates) {
    const at = questionOf(step, one);
    const answer = one.rate.key === undefined ? undefined : world.answers.get(at);
    if (answer?.ok === false) {
      const { reason } = answer;
      const why = failure('LimitKeyError', { limit: `the rate of ${wordsOf(one)}`, reason });
      return failUnbegun(job, step, { failure: why, exit: exits.definition }, now);
    }
    const request = requestOf(job, step, { of: one, value: answer?.value }, world);
    requests.push(inOnePlace(request, requests));
  }
  const answers = requests.map((request) => ({ request, answer: world.rate(request) }));
  if (answers.some(({ answer }) => answer.kind === 'unknown')) {
    const { task } = step;
    const forTask = task === undefined ? {} : { forTask: { task, queue: queueOf(job) } };
    return acquire({ rates: requests, ...forTask });
  }
  for (const { request, answer } of answers) {
    if (answer.kind === 'refused') {
      const why = failure('StoreRefused', { reason: answer.reason });
      return failUnbegun(job, step, { failure: why, exit: exits.definition }, now);
    }
    if (answer.kind !== 'full') continue;
    const next = new Date(answer.until).toISOString();
    const because = `Step ${step.leaf.name} waits for the rate limit of ${request.of} (${request.limit} per ${lengthText(request.perMs)}), next at ${next}.`;
    const until = untilOf(answer.until, hardDeadline(job), expiryOf(job));
    return { kind: 'wait', because, for: 'rate', ...until };
  }
  return undefined;
}

/**
 * Whether a rate may limit steps of a task in a job: of most jobs nothing does, and nothing more is asked.
 * What begins a job that its flow limits is known by `rateMove`.
 */
export function isRated(job: LiveJob, task: Task | undefined, world: World): boolean {
  if (task === undefined) return false;
  return task.rate !== undefined || world.ratedQueues.has(queueOf(job));
}

/**
 * Returns the job with the time for which it waited for a rate limit as time that does not count for the
 * flow: nothing of it has run or waited since then. Time before the first step counts for no flow.
 */
export function withRateWait(job: LiveJob, now: number): LiveJob {
  const waited = now - idleSince(job, now);
  return waited > 0 && hasBegun(job) ? { ...job, held_ms: (job.held_ms ?? 0) + waited } : job;
}

/** Returns since when nothing of a job has run or waited (epoch ms); `now`: something does. */
export function idleSince(job: LiveJob, now: number): number {
  if (job.steps.some(isOpen)) return now;
  const from = Math.max(job.timed_from ?? job.start, delayedUntil(job));
  const last = job.steps.reduce((latest, step) => Math.max(latest, endOf(step)), from);
  return Math.min(now, last);
}

/** When a step that is not open had ended, and its next attempt could begin. */
function endOf(step: Step): number {
  if (isFailed(step) && step.due !== undefined) return step.due;
  return (step as Extract<Step, { end: number }>).end;
}

/** In the order in which they are asked: what fewer share comes first, so that no place of others is lost. */
function ratesOf(job: LiveJob, { task }: RatedStep, world: World): readonly RateOf[] {
  const { flow_definition: flow } = job;
  const rates: RateOf[] = [];
  if (task?.rate !== undefined) {
    rates.push({ rate: task.rate, kind: 'task', name: task.name, owner: task.owner });
  }
  const queue = queueOf(job);
  const ofQueue = task === undefined ? undefined : world.queueControl(queue)?.rate;
  if (ofQueue !== undefined) rates.push({ rate: ofQueue, kind: 'queue', name: queue });
  if (flow.rate !== undefined && !hasBegun(job)) {
    rates.push({ rate: flow.rate, kind: 'flow', name: flow.name, owner: flow.owner });
  }
  return rates;
}

function questionsOf(
  job: LiveJob,
  step: RatedStep,
  rates: readonly RateOf[],
  world: World,
): readonly Question[] | ReturnType<typeof lookUp> {
  const input = inputOf(job, step, world.contents);
  if (input.missing.length > 0) return lookUp({ attachments: input.missing });
  const context = contextOf(job, step, input);
  return rates.map((one) => ({
    id: questionOf(step, one),
    expression: String(one.rate.key),
    context,
  }));
}

/** The id of the question for the value of a key. */
function questionOf({ leaf }: RatedStep, { kind }: RateOf): string {
  return `${leaf.path}.rate.${kind}.key`;
}

function contextOf(job: LiveJob, { leaf }: RatedStep, input: Input): Question['context'] {
  const { params, results, parent_results, scope } = input;
  const { path, index, name } = leaf;
  const step = { path, index, name, task: leaf.entry.task };
  return { ...scope, job, step, params, results, parent_results, ...failureFor(job, { path }) };
}

function requestOf(
  job: LiveJob,
  step: RatedStep,
  { of, value }: { readonly of: RateOf; readonly value: unknown },
  world: World,
): RateRequest {
  const { rate, kind, name, owner } = of;
  const { limit, per } = rate;
  const what =
    rate.name === undefined ? [kind, keyOfOf(of)] : ['named', rate.name, ownerOf({ owner })];
  const { path, run, attempt } = newAttempt(job, step);
  const whose = kind === 'flow' ? [run] : [path, run, attempt];
  return {
    id: world.lockId(canonical(['rate', what, value ?? null])).replace(/^lock:/, 'rate:'),
    for: canonical([job._id, ...whose]),
    attempt: path,
    limit,
    perMs: writtenSpanMs(per),
    of: rate.name === undefined ? wordsOf({ kind, name }) : `"${rate.name}"`,
    ...(kind === 'queue' ? {} : { owner: ownerOf({ owner }) }),
    ...(rate.key === undefined ? {} : { value: storedKey(value, world.lockId) }),
  };
}

/** Rates of one name take one place, not one each. */
function inOnePlace(request: RateRequest, others: readonly RateRequest[]): RateRequest {
  const same = others.find(({ id }) => id === request.id);
  return same === undefined ? request : { ...request, for: same.for };
}

function keyOfOf({ kind, name, owner }: RateOf): string {
  return kind === 'queue' ? name : keyOf(name, owner);
}

function wordsOf({ kind, name }: Pick<RateOf, 'kind' | 'name'>): string {
  return `${kind} "${name}"`;
}

function lengthText(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}
