import { isObject } from '../model/dialects.js';
import type { EngineDocument } from '../model/engine.js';
import { defaultQueue } from '../model/job.js';
import type { StoredDocument } from '../model/parse.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import { statusOf } from '../model/status.js';
import { lengthOf, momentFrom, textOf } from '../words.js';
import { nextSteps, queueIn, stepsOf, type ToCome, type Told } from './next-steps.js';
import type { SeenEngine } from './pulse.js';

/** What documents tell around a job; nothing else is needed to say why it stands where it stands. */
export type Seen = {
  readonly job: StoredDocument;
  readonly engines: readonly SeenEngine[];
  /** The flow as it is stored now, when it is. */
  readonly flow?: StoredDocument | undefined;
  /** Steps in hand by engine, when they were counted. */
  readonly inHand?: ReadonlyMap<string, number> | undefined;
  /** Epoch ms. */
  readonly now: number;
};

/** What a job waits for. `soon`: nothing that shows; an engine may take it at any moment. */
export type ReasonKind =
  | 'ended'
  | 'running'
  | 'engine_lost'
  | 'child'
  | 'waiting'
  | 'paused'
  | 'flow_paused'
  | 'flow_missing'
  | 'flow_disabled'
  | 'scheduled'
  | 'retry'
  | 'no_engine'
  | 'unserved'
  | 'busy'
  | 'soon';

/** One reason. `todo`: what somebody can do about it; absent where waiting is all there is to do. */
export type Reason = {
  readonly kind: ReasonKind;
  /** One sentence. */
  readonly because: string;
  readonly todo?: string;
  /** When it is over by itself (epoch ms). */
  readonly until?: number;
  /** The job that is waited for. */
  readonly child?: string;
};

/** Why a job does not move, or what it does: at least one reason, the first one counts most. */
export function explain(seen: Seen): readonly Reason[] {
  const { job, now } = seen;
  const status = statusOf(job as Parameters<typeof statusOf>[0], now);
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') {
    return [endReason(job, status)];
  }
  const inHand = stepReasons(seen);
  if (inHand.length > 0) return inHand;
  const held = holdReason(seen);
  const without = noEngine(seen);
  if (held !== undefined || without !== undefined) {
    return [held, without].filter((reason) => reason !== undefined);
  }
  return [flowReason(seen) ?? serviceReason(seen) ?? soon(seen)];
}

/** How it ended; a failed one also why and where, and what is there to do. */
function endReason(job: StoredDocument, status: string): Reason {
  const { failure, retry_refused: refused } = job;
  if (status === 'succeeded' && typeof refused !== 'string') {
    return { kind: 'ended', because: 'It has ended: succeeded.' };
  }
  const { message, step } = isObject(failure) ? failure : {};
  const attempts = stepsOf(job).filter(({ name, path }) => name === step || path === step);
  const times = attempts.length > 1 ? ` after ${attempts.length} attempts` : '';
  const at = typeof step === 'string' ? ` at step "${step}"${times}` : '';
  const why = typeof message === 'string' ? `: ${message}` : '';
  const wished =
    typeof refused === 'string' ? ` The wish to retry it was refused: ${sentence(refused)}` : '';
  const because = `${sentence(`It has ended: ${status}${at}${why}`)}${wished}`;
  const todo = `When the cause is mended, let it go on with \`tws retry ${job._id}\`.`;
  return { kind: 'ended', because, ...(status === 'failed' ? { todo } : {}) };
}

/** Steps that an engine has, and steps that wait for something. */
function stepReasons(seen: Seen): readonly Reason[] {
  const { job } = seen;
  const steps = stepsOf(job);
  const live = steps.filter(({ state }) => state === '$$ready' || state === '$$active');
  const waiting = steps.filter(({ state }) => state === '$$waiting');
  return [
    ...live.map((step) => runningReason(step, seen)),
    ...waiting.map((step) => waitingReason(step, seen)),
  ].flat();
}

function runningReason(step: Told, seen: Seen): readonly Reason[] {
  const { name, engine = 'an engine', attempt } = step;
  const since = step.start ?? step.accepted;
  const lasting = since === undefined ? '' : ` for ${lengthOf(seen.now - since)}`;
  const again = attempt !== undefined && attempt > 1 ? ` (attempt ${attempt})` : '';
  const alive = seen.engines.some((one) => one.engine._id === engine && one.alive);
  if (alive) {
    return [{ kind: 'running', because: `Step "${name}"${again} has run${lasting} on ${engine}.` }];
  }
  const because = `Step "${name}"${again} was taken by ${engine}, which gives no sign of life; another engine takes it over when the lease is over.`;
  const without = noEngine(seen);
  return [{ kind: 'engine_lost', because }, ...(without === undefined ? [] : [without])];
}

function waitingReason(
  { name, child, signal, event, key = '', until }: Told,
  { job, now }: Seen,
): readonly Reason[] {
  if (child !== undefined) {
    const because = `Step "${name}" waits for its child job ${child}.`;
    return [{ kind: 'child', because, todo: `See \`tws explain ${child}\`.`, child }];
  }
  const limit = until === undefined || until <= now ? {} : { until };
  const atMost = until === undefined ? '' : `, at most until ${when(until, now)}`;
  if (signal !== undefined) {
    const because = `Step "${name}" waits for the signal "${signal}"${atMost}.`;
    const todo = `Send it by \`tws signal ${job._id} ${signal}\`.`;
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  if (event !== undefined) {
    const about = key === '' ? '' : ` of "${key}"`;
    const because = `Step "${name}" waits for the event "${event}"${about}${atMost}.`;
    const todo = `Announce it by \`tws event ${event}${key === '' ? '' : ` ${key}`}\`.`;
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  const because =
    until === undefined
      ? `Step "${name}" waits for something from outside.`
      : `Step "${name}" waits until ${when(until, now)}.`;
  return [{ kind: 'waiting', because, ...limit }];
}

/** What keeps a job back by somebody's wish: a pause, or a time that has not come. */
function holdReason({ job, flow, now }: Seen): Reason | undefined {
  if (job['paused'] === true) {
    const todo = `Let it go on with \`tws resume ${job._id}\`.`;
    return { kind: 'paused', because: 'The job is paused.', todo };
  }
  if (flow?.['paused'] === true) {
    const because = `Flow "${textOf(flow['name'])}" is paused (document ${flow._id}), and all its jobs with it.`;
    return { kind: 'flow_paused', because, todo: 'Set "paused" of the flow to false.' };
  }
  const last = stepsOf(job).at(-1);
  const retryAt = last?.failed === true ? last.due : undefined;
  if (last !== undefined && retryAt !== undefined && retryAt > now) {
    const because = `Step "${last.name}" is tried again at ${when(retryAt, now)}; attempt ${last.attempt ?? 1} failed: ${last.failure ?? 'no reason given'}`;
    return { kind: 'retry', because: sentence(because), until: retryAt };
  }
  const times = [job['next_due'], last === undefined ? job['exec_after'] : undefined];
  const until = Math.max(0, ...times.map(timeOf).filter((time) => time !== undefined));
  if (until <= now || until >= neverDue) return undefined;
  const kind = last === undefined ? 'scheduled' : 'waiting';
  return { kind, because: `It waits until ${when(until, now)}.`, until };
}

function noEngine({ engines }: Seen): Reason | undefined {
  if (engines.some(({ alive, engine }) => alive && engine.state === 'running')) return undefined;
  const disabled = engines.filter(({ alive, engine }) => alive && engine.state === 'disabled');
  if (disabled.length > 0) {
    const ids = disabled.map(({ engine }) => engine._id).join(', ');
    const because = `All engines that are alive are disabled (${ids}).`;
    return { kind: 'no_engine', because, todo: 'Let one take work with `tws enable <engine>`.' };
  }
  const todo = 'Start one with `tws start`, or `tws dev`; the job goes on then.';
  const silent = engines.filter(({ engine }) => engine.state !== 'stopped').length;
  const because =
    silent === 0
      ? 'No engine is alive.'
      : `No engine is alive: ${silent === 1 ? 'the only one gives' : `all ${silent} give`} no sign of life.`;
  return { kind: 'no_engine', because, todo };
}

/** What an engine finds when it begins a new job. */
function flowReason({ job, flow }: Seen): Reason | undefined {
  if (job['state'] !== undefined || typeof job['flow'] !== 'string') return undefined;
  const name = job['flow'];
  if (flow?.['enabled'] === false) {
    const todo = `Enable it with \`tws enable ${name}\` and submit the job again.`;
    return {
      kind: 'flow_disabled',
      because: `Flow "${name}" is disabled; the job will fail.`,
      todo,
    };
  }
  if (flow !== undefined || job['tasks'] !== undefined) return undefined;
  const because = `There is no flow "${name}" for this job; it will fail.`;
  return { kind: 'flow_missing', because, todo: 'Push the flow and submit the job again.' };
}

/** Nobody can take the next step, or all who could have their hands full. */
function serviceReason(seen: Seen): Reason | undefined {
  const steps = nextSteps(seen.job);
  if (seen.job['state'] === undefined) return busyReason(seen, [], 'It has not begun');
  if (steps.length === 0) return undefined;
  const unserved = steps.map((step) => lack(step, seen)).filter((found) => found !== undefined);
  if (unserved.length === steps.length) return unserved[0];
  return busyReason(seen, steps, `Step "${steps[0]?.name ?? ''}" waits`);
}

/** All who could go on with a job have their hands full. */
function busyReason(seen: Seen, steps: readonly ToCome[], what: string): Reason | undefined {
  const { inHand } = seen;
  if (inHand === undefined) return undefined;
  const able = ableEngines(steps, seen);
  const isFull = ({ engine }: SeenEngine): boolean => (inHand.get(engine._id) ?? 0) >= engine.slots;
  if (able.length === 0 || !able.every(isFull)) return undefined;
  const slots = able.reduce((sum, { engine }) => sum + engine.slots, 0);
  const all = slots === 1 ? 'the only slot is busy' : `all ${slots} slots are busy`;
  const because = `${what}: ${all}; it goes on when a running step has ended.`;
  return { kind: 'busy', because, todo: 'Start more engines, or give them more --slots.' };
}

/** Why no living engine can take a step; undefined when one can. */
function lack({ name, plugin, labels }: ToCome, { engines, job }: Seen): Reason | undefined {
  const alive = engines.filter((one) => one.alive && one.engine.state === 'running');
  const withPlugin = alive.filter(({ engine }) => engine.plugins.includes(plugin));
  if (withPlugin.length === 0) {
    const because = `No engine has plugin "${plugin}", which step "${name}" needs.`;
    const todo =
      'Put it into the plugins folder of an engine, if it is not there, and start that engine again: plugins are loaded at the start. Else the job times out.';
    return { kind: 'unserved', because, todo };
  }
  const able = withPlugin.filter(({ engine }) => carries(engine.labels, labels));
  const queue = queueIn(job);
  if (able.some(({ engine }) => servesQueue(engine, queue))) return undefined;
  if (able.length > 0) {
    const because = `No engine that could take step "${name}" serves the queue "${queue}" of the job.`;
    const todo = `Start one with \`tws start --queues ${queue}\`; else the job times out.`;
    return { kind: 'unserved', because, todo };
  }
  const because = `No engine with plugin "${plugin}" carries the ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(', ')} of step "${name}".`;
  const todo = `Start one with \`tws start --labels ${labels.join(',')}\`; else the job times out.`;
  return { kind: 'unserved', because, todo };
}

/** The living engines that can take one of these steps; without steps, those that serve the job. */
function ableEngines(
  steps: readonly ToCome[],
  { engines, job, flow }: Seen,
): readonly SeenEngine[] {
  const queue = queueIn({ flow_definition: flow, ...job });
  return engines.filter(
    ({ alive, engine }) =>
      alive &&
      engine.state === 'running' &&
      servesQueue(engine, queue) &&
      (steps.length === 0 ||
        steps.some(
          ({ plugin, labels }) => engine.plugins.includes(plugin) && carries(engine.labels, labels),
        )),
  );
}

const servesQueue = ({ queues = [defaultQueue] }: EngineDocument, queue: string): boolean =>
  queues.includes(queue);

const carries = (has: readonly string[], wants: readonly string[]): boolean =>
  wants.every((label) => has.includes(label));

function soon({ job }: Seen): Reason {
  const what = job['state'] === undefined ? 'It has not begun' : 'It is between two steps';
  return { kind: 'soon', because: `${what}; an engine may take it at any moment.` };
}

function timeOf(time: unknown): number | undefined {
  if (typeof time !== 'number' && typeof time !== 'string') return undefined;
  const at = toEpochMs(time);
  return Number.isFinite(at) ? at : undefined;
}

/** `2026-11-21T10:00:00.000Z (in 5 min)`; a time that is no date is shown as it is. */
function when(at: number, now: number): string {
  const date = new Date(at);
  const shown = Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
  return `${shown} (${momentFrom(now, at)})`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** The steps in hand of each engine, counted in the jobs that have not ended. */
export function countInHand(jobs: readonly StoredDocument[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { engine, state } of jobs.flatMap(stepsOf)) {
    if (engine === undefined || (state !== '$$ready' && state !== '$$active')) continue;
    counts.set(engine, (counts.get(engine) ?? 0) + 1);
  }
  return counts;
}
