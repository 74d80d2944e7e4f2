import { isObject } from '../model/object.js';
import { notifiesOf } from '../model/notify.js';
import type { StoredDocument } from '../model/document.js';
import { isFinal, isLiveJob, type Job } from '../model/job.js';
import type { Status } from '../model/status.js';
import type { Decided } from '../decide/intent.js';
import { lateAt } from '../reading/alerts.js';
import { readJob, type JobReading } from '../reading/read-job.js';
import { statusOf } from '../reading/status.js';
import { asSentence, lengthOf, momentFrom, shortened, textOf } from '../words.js';
import { endReasons } from './end-reasons.js';
import { endedParent } from './ended-parent.js';
import type { Observed } from './observer.js';
import { caughtReasons } from './caught-reasons.js';
import type { Reason, Seen } from './reason.js';
import { noEngine, serviceReason } from './service.js';
import { answerReasons, stepReasons, when } from './step-reasons.js';

/**
 * Why a job does not move, or what it does: at least one reason, the first one counts most. It is what
 * the rules of the engines decide about the job as it stands (`observed`), and what can be done about
 * that.
 */
export function explain(seen: Seen, observed: Observed): readonly Reason[] {
  const { job, parent, now } = seen;
  const above = parent === undefined ? undefined : endedParent(job, parent);
  const around = above === undefined ? [] : [above];
  const read = readJob(job, now);
  return eachOnce([
    ...decisionReasons(seen, read, observed),
    ...around,
    ...caughtReasons(job),
    ...answerReasons(seen),
    ...refusals(seen),
    ...noticed(job),
  ]);
}

/** Several steps may have the same reason: that no engine is alive, for one. */
function eachOnce(reasons: readonly Reason[]): readonly Reason[] {
  const keys = reasons.map(({ kind, because }) => `${kind} ${because}`);
  return reasons.filter((_, i) => keys.indexOf(keys[i] ?? '') === i);
}

/** So many refusals are told, the last ones. */
const shownRefusals = 3;

/** What was asked of the job and could not be done. */
function refusals({ job: { requests, retry_refused: refusal }, now }: Seen): readonly Reason[] {
  const records = Array.isArray(requests) ? requests.filter(isObject) : [];
  // That of the last retry is shown with the end of the job; what was granted later needs no word.
  const refused = records.filter(
    (record, i) =>
      isRefused(record) &&
      record['refused'] !== refusal &&
      !records.slice(i).some((one) => one['action'] === record['action'] && !isRefused(one)),
  );
  return refused.slice(-shownRefusals).map(({ action, by, at, refused: why }) => {
    const who = typeof by === 'string' && by !== '' ? ` by ${by}` : '';
    const since = typeof at === 'number' ? ` (${momentFrom(now, at)})` : '';
    const because = `The request "${textOf(action)}"${who}${since} was refused: ${textOf(why)}`;
    return { kind: 'refused', because: asSentence(because) };
  });
}

function isRefused({ refused }: Readonly<Record<string, unknown>>): boolean {
  return typeof refused === 'string';
}

/** Maximum number of problems that are told, the newest last. */
const shownProblems = 3;
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
  const left = unsaid.length - shownProblems;
  return unsaid.slice(-shownProblems).map(({ at, message }, i) => {
    const more = i === 0 && left > 0 ? ` (and ${left} before)` : '';
    const because = `Problem${at}${more}: ${shortened(message, longestProblem)}`;
    return { kind: 'problem', because: asSentence(because) };
  });
}

/** Some sentences begin with the place themselves. */
function placeOf(path: unknown, message: string): string {
  const isSaid = typeof path !== 'string' || path === '' || message.startsWith(path);
  return isSaid ? '' : ` in "${path}"`;
}

/** What the rules say, each reason with their name. */
function decisionReasons(seen: Seen, read: JobReading, observed: Observed): readonly Reason[] {
  if (isFinalStatus(read.status))
    return [...endReasons(seen.job, read), ...notificationReasons(seen)];
  if (observed.kind === 'unreadable') {
    const because = asSentence(
      `It is no valid job, and the next engine ends it: ${observed.because}`,
    );
    const ofEngines = noEngine(seen);
    return [{ kind: 'unreadable', because }, ...(ofEngines === undefined ? [] : [ofEngines])];
  }
  const reasons = [...ruleReasons(seen, read, observed), ...lateReason(seen, observed.job)];
  const ruled = reasons.map((reason) => ({ ...reason, rule: observed.decided.rule }));
  return [...ruled, ...notificationReasons(seen)];
}

function isFinalStatus(status: Status): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

type Decision = Extract<Observed, { kind: 'decided' }>;

/** What keeps the job back is named first; without that, what is under way or to be done. */
function ruleReasons(seen: Seen, read: JobReading, decision: Decision): readonly Reason[] {
  const { rule, ...intent } = decision.decided;
  const because = intent.kind === 'wait' ? intent.because : '';
  const underWay = stepReasons(seen, read);
  const alone = (reason: Reason): readonly Reason[] =>
    [reason, noEngine(seen), heldReason(seen)].filter((one) => one !== undefined);
  switch (rule) {
    case 'notification':
      return [subjectReason(seen.job) ?? { kind: 'waiting', because }];
    case 'pause': {
      // While it is paused, nothing follows what runs or waits now.
      const paused = pauseReason(seen);
      return underWay.length > 0 ? [paused, ...underWay] : alone(paused);
    }
    case 'not before':
      return alone(timeReason(seen, read, because));
    case 'permit':
      return intent.kind === 'wait'
        ? alone(fullReason(seen) ?? { kind: 'full', because })
        : workReasons(seen, decision);
    case 'begin':
      // It must not begin yet, and waits for its definitions as well.
      if (intent.kind !== 'wait') return workReasons(seen, decision);
      return alone(
        seen.job['paused'] === true ? pauseReason(seen) : timeReason(seen, read, because),
      );
    default:
      return underWay.length > 0 ? underWay : waitOrWork(seen, read, decision);
  }
}

function waitOrWork(seen: Seen, read: JobReading, decision: Decision): readonly Reason[] {
  const retry = retryReason(seen, read);
  const nobody = noEngine(seen);
  if (retry !== undefined) return nobody === undefined ? [retry] : [retry, nobody];
  return workReasons(seen, decision);
}

/** The next engine that can do it goes on with the job, if there is one. */
function workReasons(seen: Seen, { job, decided }: Decision): readonly Reason[] {
  const ending = endingReason(decided);
  const nobody = noEngine(seen);
  if (nobody !== undefined) {
    return [nobody, heldReason(seen) ?? ending].filter((one) => one !== undefined);
  }
  const known = ending ?? heldReason(seen) ?? fullReason(seen) ?? serviceReason(seen, job);
  if (known !== undefined) return [known];
  // What only another engine can do, any of them may do at once.
  const isHeld = decided.kind === 'wait' && decided.for === undefined;
  return [isHeld ? { kind: 'waiting', because: decided.because } : soon(seen)];
}

/** It has been running for longer than its flow expects. */
function lateReason({ now }: Seen, job: Job): readonly Reason[] {
  if (!isLiveJob(job) || lateAt(job) >= now) return [];
  const since = lengthOf(now - lateAt(job));
  const because = `It is late: it should have ended ${since} ago ("expected" of its flow).`;
  return [{ kind: 'late', because }];
}

/** How it goes with telling of it. */
function notificationReasons({ notifications = [], now }: Seen): readonly Reason[] {
  return notifications.map((one) => {
    const status = statusOf(one, now);
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
  const of = notifies.event === undefined ? 'the end of job' : `"${notifies.event}" of job`;
  const because = `It tells of ${of} ${subject}, which is not stored yet.`;
  return { kind: 'waiting', because, todo: `See \`tws explain ${subject}\`.`, child: subject };
}

/** The job, its flow or its queue is paused. */
function pauseReason({ job, flow, queueControl, now }: Seen): Reason {
  if (job['paused'] === true) {
    const todo = `Let it go on with \`tws resume ${job._id}\`.`;
    return { kind: 'paused', because: pausedBy(job, now), todo };
  }
  if (flow?.['paused'] !== true && queueControl?.paused === true) {
    const { queue, reason } = queueControl;
    const why = reason === undefined ? '' : `: ${shortened(reason, longestProblem)}`;
    const because = asSentence(`Queue "${queue}" is paused, and all its jobs with it${why}`);
    const todo = `Let them go on with \`tws queue resume ${queue}\`.`;
    return { kind: 'queue_paused', because, todo };
  }
  const because = `Flow "${textOf(flow?.['name'])}" is paused (document ${flow?._id ?? ''}), and all its jobs with it.`;
  return { kind: 'flow_paused', because, todo: 'Set "paused" of the flow to false.' };
}

/** A time has not come. */
function timeReason({ now }: Seen, { steps, until }: JobReading, because: string): Reason {
  const kind = steps.length === 0 ? 'scheduled' : 'waiting';
  if (until === undefined) return { kind, because };
  return { kind, because: `It waits until ${when(until, now)}.`, until };
}

/** The last attempt failed, and the next one is due later. */
function retryReason({ now }: Seen, { retried }: JobReading): Reason | undefined {
  if (retried === undefined || retried.due <= now) return undefined;
  const { name, attempt, failure = 'no reason given', due } = retried;
  const because = `Step "${name}" is tried again at ${when(due, now)}; attempt ${attempt} failed: ${failure}`;
  return { kind: 'retry', because: asSentence(because), until: due };
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
  return asSentence(`The job is paused${who}${since}${why}`);
}

/** Another job has what this one wants to work on: it will not wait for it but be refused. */
function heldReason({ holder, hidden }: Seen): Reason | undefined {
  if (holder === undefined) return undefined;
  const { job, kind, target } = holder;
  const isHidden = hidden?.has(job) === true;
  const by = isHidden ? 'a job of another owner' : `job ${job}`;
  const todo = isHidden ? {} : { todo: `See \`tws explain ${job}\`.` };
  if (kind === 'unique' || kind === 'replaced') {
    const same = `${isHidden ? 'Another job' : `Job ${job}`} has the same "unique" key among the jobs of ${target}`;
    const because =
      kind === 'unique'
        ? `${same}; this job is refused when an engine takes it up while that one counts.`
        : `${same}; it is asked to cancel, and this job begins when it has ended.`;
    return { kind: 'not_unique', because, ...todo };
  }
  const how =
    kind === 'target'
      ? `Target "${target}" is held by ${by} with the same parameters`
      : `Target "${target}" is held by ${by}, whose "locks" match it`;
  const because = `${how}; this job is refused when an engine takes it up before that has ended.`;
  return { kind: 'target_held', because, ...todo };
}

/** The job ends as soon as an engine looks at it. */
function endingReason(decided: Decided): Reason | undefined {
  if (decided.kind !== 'write' || !isFinal(decided.job)) return undefined;
  const { failure: why, flow } = decided.job;
  if (why === undefined) return undefined;
  const because = asSentence(`The next engine ends it: ${why.message}`);
  switch (why.name) {
    case 'FlowMissing':
      return { kind: 'flow_missing', because, todo: 'Push the flow and submit the job again.' };
    case 'FlowDisabled': {
      const todo = `Enable it with \`tws enable ${textOf(flow)}\` and submit the job again.`;
      return { kind: 'flow_disabled', because, todo };
    }
    default:
      return { kind: 'ending', because };
  }
}

/** So many holders of permits are named. */
const namedHolders = 3;

/** All permits of a limit are taken, or others get one first. */
function fullReason({ lines, hidden, place = '' }: Seen): Reason | undefined {
  const [line] = lines ?? [];
  if (line === undefined) return undefined;
  const { title, most, by } = line;
  if (by.length === 0) {
    const because = `It waits for a permit of ${title}; earlier jobs are ahead.${place}`;
    return { kind: 'full', because };
  }
  const ids = [...new Set(by.map(({ job }) => job))];
  const named = ids.filter((id) => hidden?.has(id) !== true);
  const shown =
    named.length === 0 ? 'jobs of other owners' : named.slice(0, namedHolders).join(', ');
  const left = ids.length - Math.min(namedHolders, named.length);
  const more = named.length > 0 && left > 0 ? ` and ${left} more` : '';
  const all = most === 1 ? 'The only permit' : `All ${most} permits`;
  const verb = most === 1 ? 'is' : 'are';
  return {
    kind: 'full',
    because: `${all} of ${title} ${verb} taken; now: ${shown}${more}.${place}`,
    todo: `It goes on when one of them is given back${named[0] === undefined ? '' : `; see \`tws explain ${named[0]}\``}.`,
  };
}

function soon({ job }: Seen): Reason {
  const what = job['state'] === undefined ? 'It has not begun' : 'It is between two steps';
  return { kind: 'soon', because: `${what}; an engine may take it at any moment.` };
}
