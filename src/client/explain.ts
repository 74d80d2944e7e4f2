import { isObject } from '../model/dialects.js';
import { notifiesOf } from '../model/notify.js';
import type { StoredDocument } from '../model/parse.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import { statusOf } from '../model/status.js';
import { queueOfOffer } from '../model/work.js';
import { lengthOf, momentFrom, textOf } from '../words.js';
import { endedParent } from './ended-parent.js';
import type { Holder } from './holder.js';
import { stepsOf, type Told } from './next-steps.js';
import type { Permits } from './permits.js';
import type { SeenEngine } from './pulse.js';
import { noEngine, serviceReason } from './service.js';

/** What documents tell around a job; nothing else is needed to say why it stands where it stands. */
export type Seen = {
  readonly job: StoredDocument;
  readonly engines: readonly SeenEngine[];
  /** The flow as it is stored now, when it is. */
  readonly flow?: StoredDocument | undefined;
  /** Steps in hand by engine, when they were counted. */
  readonly inHand?: ReadonlyMap<string, number> | undefined;
  /** The permits of its flow, when it has to take one before it begins. */
  readonly permits?: Permits | undefined;
  /** The job that has its target. */
  readonly holder?: Holder | undefined;
  /** The notifications of its end, as far as they are there. */
  readonly notifications?: readonly StoredDocument[] | undefined;
  /** The job that it was made for, when that is there. */
  readonly parent?: StoredDocument | undefined;
  /** Ids of jobs that whoever asks must not learn. */
  readonly hidden?: ReadonlySet<string> | undefined;
  /** Epoch ms. */
  readonly now: number;
};

/** What a job waits for. `soon`: nothing that shows; an engine may take it at any moment. */
export type ReasonKind =
  | 'ended'
  | 'notification'
  | 'parent'
  | 'running'
  | 'engine_lost'
  | 'child'
  | 'waiting'
  | 'paused'
  | 'flow_paused'
  | 'flow_missing'
  | 'flow_disabled'
  | 'target_held'
  | 'scheduled'
  | 'retry'
  | 'no_engine'
  | 'unserved'
  | 'full'
  | 'busy'
  | 'refused'
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
  const { job, parent } = seen;
  const above = parent === undefined ? undefined : endedParent(job, parent);
  return [...standing(seen), ...(above === undefined ? [] : [above]), ...refusals(seen)];
}

/** So many refusals are told, the last ones. */
const toldRefusals = 3;

/** What was asked of the job and could not be done. */
function refusals({ job: { requests, retry_refused: wish }, now }: Seen): readonly Reason[] {
  const records = Array.isArray(requests) ? requests.filter(isObject) : [];
  // That of the last wish to go on is told with the end of the job.
  const refused = records.filter(
    (record) => typeof record['refused'] === 'string' && record['refused'] !== wish,
  );
  return refused.slice(-toldRefusals).map(({ action, by, at, refused: why }) => {
    const who = typeof by === 'string' && by !== '' ? ` by ${by}` : '';
    const since = typeof at === 'number' ? ` (${momentFrom(now, at)})` : '';
    const because = `The request "${textOf(action)}"${who}${since} was refused: ${textOf(why)}`;
    return { kind: 'refused', because: sentence(because) };
  });
}

function standing(seen: Seen): readonly Reason[] {
  const { job, now } = seen;
  const status = statusOf(job as Parameters<typeof statusOf>[0], now);
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') {
    return [endReason(job, status), ...notificationReasons(seen)];
  }
  const subject = subjectReason(job);
  if (subject !== undefined) return [subject];
  const inHand = stepReasons(seen);
  if (inHand.length > 0) return inHand;
  const held = holdReason(seen);
  const without = noEngine(seen);
  if (held !== undefined || without !== undefined) {
    const reasons = [held, without, heldReason(seen)];
    return reasons.filter((reason) => reason !== undefined);
  }
  return [
    flowReason(seen) ?? heldReason(seen) ?? fullReason(seen) ?? serviceReason(seen) ?? soon(seen),
  ];
}

/** How it ended; a failed one also why and where, and what is there to do. */
function endReason(job: StoredDocument, status: string): Reason {
  const { failure, retry_refused: refused } = job;
  if (status === 'succeeded' && typeof refused !== 'string') {
    return { kind: 'ended', because: 'It has ended: succeeded.' };
  }
  const { message, step } = isObject(failure) ? failure : {};
  const failed = stepsOf(job).findLast(
    ({ name, path, failed: isFailed }) => (name === step || path === step) && isFailed,
  );
  // Of a structure there is an entry for each thing that was found out.
  const attempts = stepsOf(job).filter(
    ({ path, structure }) => path === failed?.path && structure === undefined,
  );
  const times = attempts.length > 1 ? ` after ${attempts.length} attempts` : '';
  const at = typeof step === 'string' ? ` at step "${step}"${times}` : '';
  const why = typeof message === 'string' ? `: ${message}` : '';
  const wished =
    typeof refused === 'string' ? ` The wish to retry it was refused: ${sentence(refused)}` : '';
  const because = `${sentence(`It has ended: ${status}${at}${why}`)}${wished}`;
  const todo = `When the cause is mended, let it go on with \`tws retry ${job._id}\`.`;
  return { kind: 'ended', because, ...(status === 'failed' ? { todo } : {}) };
}

/** How it goes with telling of the end. */
function notificationReasons({ notifications = [], now }: Seen): readonly Reason[] {
  return notifications.map((one) => {
    const status = statusOf(one as Parameters<typeof statusOf>[0], now);
    const because = `Its notification ${one._id}: ${status}.`;
    const todo = { todo: `See \`tws explain ${one._id}\`.` };
    return { kind: 'notification', because, ...(status === 'succeeded' ? {} : todo) };
  });
}

/** A notification does nothing before there is something to tell. */
function subjectReason(job: StoredDocument): Reason | undefined {
  const notifies = notifiesOf(job);
  if (notifies === undefined || notifies.since !== undefined) return undefined;
  const { job: subject } = notifies;
  const because = `It tells of the end of job ${subject}, which is not stored yet.`;
  return { kind: 'waiting', because, todo: `See \`tws explain ${subject}\`.`, child: subject };
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
  { name, child, remade, signal, worker, event, key = '', until, news }: Told,
  { job, now }: Seen,
): readonly Reason[] {
  if (child !== undefined) {
    const again =
      remade === undefined
        ? ''
        : `, which was made again (${momentFrom(now, remade)}) because its document was deleted`;
    const because = `Step "${name}" waits for its child job ${child}${again}.`;
    return [{ kind: 'child', because, todo: `See \`tws explain ${child}\`.`, child }];
  }
  const limit = until === undefined || until <= now ? {} : { until };
  const atMost = until === undefined ? '' : `, at most until ${when(until, now)}`;
  if (worker !== undefined) {
    const because = `Step "${name}" is done by worker "${worker}", which has it${atMost}.`;
    return [{ kind: 'waiting', because, ...limit }];
  }
  const offered = signal === undefined ? undefined : queueOfOffer(signal);
  if (offered !== undefined) {
    const because = `Step "${name}" waits for a worker to fetch it from the queue "${offered}"${atMost}.`;
    const todo = 'See that a worker runs which asks for that queue (POST /ojs/v1/workers/fetch).';
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
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
  if (news !== undefined) {
    const because = `The decider of step "${name}" asked for nothing and waits for any signal${atMost}.`;
    const todo = `Send one by \`tws signal ${job._id} NAME\`, or cancel the job.`;
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
    return { kind: 'paused', because: pausedBy(job, now), todo };
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

/** Who paused the job, as far as it tells: whoever edits the document leaves no name. */
function pausedBy({ requests }: StoredDocument, now: number): string {
  const records = Array.isArray(requests) ? requests.filter(isObject) : [];
  const asked = records.filter(({ refused }) => refused === undefined);
  const last = asked.findLast(({ action }) => action === 'pause' || action === 'resume');
  if (last?.['action'] !== 'pause') return 'The job is paused.';
  const { by, reason, at } = last;
  const who = typeof by === 'string' && by !== '' ? ` by ${by}` : '';
  const since = typeof at === 'number' ? `, ${momentFrom(now, at)}` : '';
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  return sentence(`The job is paused${who}${since}${why}`);
}

/** Another job has what this one wants to work on: it will not wait for it but be refused. */
function heldReason({ holder, hidden }: Seen): Reason | undefined {
  if (holder === undefined) return undefined;
  const { job, kind, target } = holder;
  const isHidden = hidden?.has(job) === true;
  const by = isHidden ? 'a job of another owner' : `job ${job}`;
  const how =
    kind === 'target'
      ? `Target "${target}" is held by ${by} with the same parameters`
      : `Target "${target}" is held by ${by}, whose "locks" match it`;
  const because = `${how}; this job is refused when an engine takes it up before that has ended.`;
  const todo = isHidden ? {} : { todo: `See \`tws explain ${job}\`.` };
  return { kind: 'target_held', because, ...todo };
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

/** As many jobs of its flow run as may at the same time. */
function fullReason({ job, permits, hidden }: Seen): Reason | undefined {
  if (permits === undefined || permits.heldBy.length < permits.most) return undefined;
  const { most, heldBy } = permits;
  const named = heldBy.filter((id) => hidden?.has(id) !== true);
  const shown = named.length === 0 ? 'jobs of other owners' : named.slice(0, 3).join(', ');
  const left = heldBy.length - Math.min(3, named.length);
  const more = named.length > 0 && left > 0 ? ` and ${left} more` : '';
  const because = `Of flow "${textOf(job['flow'])}" ${most === 1 ? 'one job runs' : `${most} jobs run`} at a time at the most ("max_running"); now: ${shown}${more}.`;
  return {
    kind: 'full',
    because,
    todo: `It begins when one of them has ended${named[0] === undefined ? '' : `; see \`tws explain ${named[0]}\``}.`,
  };
}

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
