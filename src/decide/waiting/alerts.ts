import { isCancelRequested, isSlice, type LiveJob } from '../../model/job.js';
import {
  asksFor,
  notificationsOf,
  type NotificationMade,
  type NotifyEntry,
} from '../../model/notify.js';
import type { AlertOccasion } from '../../model/occasions.js';
import { without } from '../../model/record.js';
import { writtenSpanMs } from '../../model/span.js';
import type { WaitingStep } from '../../model/step.js';
import { ownerOf } from '../../model/task.js';
import { lateAt, waitsForPerson } from '../../reading/alerts.js';
import { lengthOf } from '../../words.js';
import { notificationOf, type AlertTold } from '../finish/notification.js';
import { freeId, idsOf, wantedAlive, type Wanted } from '../finish/wanted.js';
import { lookUp, type Query } from '../queries.js';
import type { ChildJob, Intent, Wait } from '../intent.js';
import type { World } from '../world.js';
import { eachTold, inId } from './each.js';
import { withNextDue } from './sleep.js';
import { linkStepOf } from './links.js';
import { describeWait } from './waits.js';

/** What a wait comes to: the job with its stay on record, and until when it waits; or what is told first. */
export type Alerted =
  | { readonly kind: 'waits'; readonly job: LiveJob; readonly wait: Wait }
  | { readonly kind: 'tells'; readonly intent: Extract<Intent, { kind: 'write' }> }
  | Query;

/**
 * Tells of a job that goes on: that it is late, stuck, or waits for a person.
 *
 * N11 It is told as an end is (N1, N2): the notification is stored first, then the revision of the job
 *    that names it. What is named was told: `late` once in a run, `waiting` once for each wait, `stuck`
 *    once for each stay.
 * N12 A job waits no longer than until the next time at which it has something to tell.
 * N13 A job that nobody asked to be told of costs no write.
 * N14 What has begun in this very decision is written first and told after that: the time at which it began is part
 *    of the notification's id, and each decision before that write would ask for another one.
 */
export function withAlerts(job: LiveJob, wait: Wait, now: number, world: World): Alerted {
  const isTelling = !isSlice(job) && !isCancelRequested(job);
  const isStuck = wait.unserved === true && isTelling && mayTell(job, 'stuck', world);
  const kept = withStay(job, isStuck, now);
  const alerts = isTelling ? alertsOf(kept, wait, world) : [];
  if (alerts.length === 0) return { kind: 'waits', job: kept, wait };
  const announced = announceAlerts(kept, alerts, now, world);
  if (announced.kind === 'look_up') return announced;
  const { due, makes, made } = announced;
  const next = due < (wait.until ?? Infinity) ? { ...wait, until: due } : wait;
  if (made.length === 0) return { kind: 'waits', job: kept, wait: next };
  const notifications = [...notificationsOf(kept), ...made];
  const told = withNextDue({ ...kept, notifications }, next);
  return { kind: 'tells', intent: { kind: 'write', job: told, makes } };
}

/** What is to be told now, and when (epoch ms) the next thing is; Infinity: nothing is. */
type AlertsAnnounced = {
  readonly kind: 'announced';
  readonly due: number;
  readonly made: readonly NotificationMade[];
  readonly makes: readonly ChildJob[];
};

function announceAlerts(
  job: LiveJob,
  alerts: readonly Alert[],
  now: number,
  world: World,
): AlertsAnnounced | Query {
  const named = new Set(notificationsOf(job).map(({ id, of = id }) => of));
  const unknown: string[] = [];
  const made: NotificationMade[] = [];
  const makes: ChildJob[] = [];
  let due = Infinity;
  for (const { alert, wanted } of pairsOf(alerts, wantedAlive(job, world))) {
    const { key, since, ...facts } = alert;
    const { number, entry } = wanted;
    const numbered = `${key}:${number}`;
    const ids = idsOf(job, numbered);
    if (ids.some((id) => named.has(id))) continue;
    const at = since + afterMs(entry, alert.event);
    if (at > now) {
      due = Math.min(due, at);
      continue;
    }
    for (const { user, facts: told } of eachTold(facts, entry)) {
      const own = user === undefined ? numbered : `${numbered}@${inId(user)}`;
      const free = freeId(job, own, world);
      if (free.kind === 'unknown') {
        unknown.push(free.id);
        continue;
      }
      const { id } = free;
      const only = user === undefined ? {} : { for: user, of: ids[0] };
      made.push({ id, run: job.run, at: now, event: alert.event, ...only });
      if (free.kind !== 'absent') continue;
      const telling = { ...wanted, before: job, ended: job, at: now, id };
      makes.push(notificationOf({ ...telling, alert: { ...told, at: now } }, world));
    }
  }
  if (unknown.length > 0) return lookUp({ children: unknown });
  return { kind: 'announced', due, made, makes };
}

/** Each alert with the entries that ask for it. */
function pairsOf(alerts: readonly Alert[], wanted: readonly Wanted[]) {
  return alerts.flatMap((alert) =>
    wanted
      .filter(({ entry }) => entry.on?.includes(alert.event) === true)
      .map((one) => ({ alert, wanted: one })),
  );
}

function afterMs({ after }: NotifyEntry, event: AlertOccasion): number {
  return Math.max(
    after === undefined ? usualAfterMs[event] : writtenSpanMs(after),
    leastAfterMs[event],
  );
}

/** So many ms something must last before it is told, where the entry does not say. */
const usualAfterMs = { late: 0, stuck: 30_000, waiting: 0, reminder: 0, due: 0, escalated: 0 };
/** A decision takes no time, so what has lasted for a millisecond is on record (N14). */
const leastAfterMs = { late: 0, stuck: 1, waiting: 1, reminder: 1, due: 1, escalated: 1 };

/** Whether anybody may ask for an alert of the job. */
function mayTell(job: LiveJob, event: AlertOccasion, { notifyLists }: World): boolean {
  const { notify, flow_definition: flow } = job;
  return (
    asksFor(notify, event) ||
    asksFor(flow.notify, event) ||
    notifyLists(ownerOf(job)).some(({ entry }) => entry.on?.includes(event) === true)
  );
}

/** Something that may be told; `key`: tells it from others of the job in this run; `since`: epoch ms. */
type Alert = Omit<AlertTold, 'at'> & { readonly key: string; readonly since: number };

/** Without the record of a stay, when the job moves. */
export function moved(intent: Intent): Intent {
  if (intent.kind !== 'claim' && intent.kind !== 'spawn') return intent;
  const { job } = intent;
  return job.stuck_since === undefined ? intent : { ...intent, job: without(job, 'stuck_since') };
}

function withStay(job: LiveJob, isStuck: boolean, now: number): LiveJob {
  if (isStuck) return job.stuck_since === undefined ? { ...job, stuck_since: now } : job;
  return job.stuck_since === undefined ? job : without(job, 'stuck_since');
}

function alertsOf(job: LiveJob, wait: Wait, world: World): readonly Alert[] {
  const asks = (event: AlertOccasion): boolean => mayTell(job, event, world);
  const { stuck_since: stuck, flow_definition: flow } = job;
  const since = lateAt(job);
  const expected = flow.expected === undefined ? 0 : writtenSpanMs(flow.expected);
  const late = `It has been running for longer than the expected ${lengthOf(expected)}.`;
  const waiting = job.steps.filter(waitsForPerson);
  const people = waiting
    .flatMap((step) => formAlerts(job, step))
    .filter(({ event }) => asks(event));
  return [
    ...(since < Infinity && asks('late')
      ? [{ event: 'late', key: 'late', since, because: late } as const]
      : []),
    ...(stuck === undefined
      ? []
      : [
          {
            event: 'stuck',
            key: `stuck-${stuck}`,
            since: stuck,
            because: wait.because,
          } as const,
        ]),
    ...(waiting.length > 0 && asks('waiting') ? waiting : []).map((step) => ({
      event: 'waiting' as const,
      // Items of a map have the same index, and each may wait for somebody else.
      key: `waiting-${step.form === undefined ? step.index : step.path}-${sinceOf(step)}`,
      since: sinceOf(step),
      ...factsOf(job, step),
    })),
    ...people,
  ];
}

/** What is told of a step that waits for a person. */
function factsOf(job: LiveJob, step: WaitingStep): Pick<Alert, 'because' | 'step' | 'signal'> {
  const { name, signal, form = {} } = step;
  const { title, text, assignee, group, due, links } = form;
  const { job: _job, ...attempt } = linkStepOf(job, step);
  const asked = Object.entries({ title, text, assignee, group, due });
  return {
    because: `Step ${name} waits ${describeWait(step)}.`,
    step: name,
    signal: String(signal),
    ...Object.fromEntries(asked.filter(([, value]) => value !== undefined)),
    ...(links === undefined ? {} : { answer: { ...attempt, links } }),
  };
}

/** What is told of the timers of a form that were taken up (PF2). */
function formAlerts(job: LiveJob, step: WaitingStep): readonly Alert[] {
  const { form, path } = step;
  return (form?.timers ?? []).flatMap(({ event, at, told }) => {
    if (told === undefined) return [];
    const key = `${event}-${path}-${sinceOf(step)}-${at}`;
    return [{ event, key, since: at, ...factsOf(job, step) }];
  });
}

function sinceOf({
  since,
  accepted,
}: {
  readonly since?: number | undefined;
  readonly accepted?: unknown;
}): number {
  return since ?? Number(accepted);
}
