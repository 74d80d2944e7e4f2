import { isObject } from '../model/object.js';
import { notifiesOf } from '../model/notify.js';
import type { StoredDocument } from '../model/document.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import { statusOf } from '../reading/status.js';
import { momentFrom, shortened, textOf } from '../words.js';
import { endedParent } from './ended-parent.js';
import { stepsOf } from './next-steps.js';
import type { Reason, Seen } from './reason.js';
import { noEngine, serviceReason } from './service.js';
import { stepReasons, when } from './step-reasons.js';

/** Why a job does not move, or what it does: at least one reason, the first one counts most. */
export function explain(seen: Seen): readonly Reason[] {
  const { job, parent } = seen;
  const above = parent === undefined ? undefined : endedParent(job, parent);
  const around = above === undefined ? [] : [above];
  return [...standing(seen), ...around, ...refusals(seen), ...noticed(job)];
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

/** Maximum number of problems that are told, the newest last. */
const toldProblems = 3;
const longestProblem = 1_000;

/** What was noticed in the job beside what it waits for or how it ended. */
function noticed({ problems, failure }: StoredDocument): readonly Reason[] {
  const said = isObject(failure) ? textOf(failure['message']) : '';
  const list = Array.isArray(problems) ? problems.filter(isObject) : [];
  const unsaid = list.flatMap(({ path, message }) =>
    typeof message !== 'string' || message === '' || said.endsWith(`: ${message}`)
      ? []
      : [{ at: placeOf(path, message), message }],
  );
  const left = unsaid.length - toldProblems;
  return unsaid.slice(-toldProblems).map(({ at, message }, i) => {
    const more = i === 0 && left > 0 ? ` (and ${left} before)` : '';
    const because = `Problem${at}${more}: ${shortened(message, longestProblem)}`;
    return { kind: 'problem', because: sentence(because) };
  });
}

/** Some sentences begin with the place themselves. */
function placeOf(path: unknown, message: string): string {
  const isSaid = typeof path !== 'string' || path === '' || message.startsWith(path);
  return isSaid ? '' : ` in "${path}"`;
}

function standing(seen: Seen): readonly Reason[] {
  const { job, now } = seen;
  const status = statusOf(job as Parameters<typeof statusOf>[0], now);
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') {
    return [endReason(job, status), ...notificationReasons(seen)];
  }
  const subject = subjectReason(job);
  if (subject !== undefined) return [subject];
  return unended(seen);
}

function unended(seen: Seen): readonly Reason[] {
  const held = holdReason(seen);
  const inHand = stepReasons(seen);
  // While it is paused, nothing follows what runs or waits now.
  const isPaused = held?.kind === 'paused' || held?.kind === 'flow_paused';
  if (inHand.length > 0) return isPaused ? [held, ...inHand] : inHand;
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

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
