import {
  type FinalJob,
  isCancelRequested,
  isFinalState,
  type LiveJob,
  type NewJob,
} from '../../model/job.js';
import { notificationsOf, notifiesOf, type Notifies } from '../../model/notify.js';
import { exits } from '../../model/step.js';
import { finish } from './finish.js';
import { lookUp, type Query } from '../queries.js';
import type { Wait } from '../intent.js';
import type { World } from '../world.js';
import { includedOf } from './notification.js';

type Doc = Readonly<Record<string, unknown>>;

/** What a notification does once its subject is known. */
export type SubjectMove =
  /** It goes on as any job. */
  | { readonly kind: 'knows'; readonly job: NewJob | LiveJob }
  | { readonly kind: 'write'; readonly job: FinalJob }
  | Wait
  | Query;

/**
 * Makes a notification wait until the end that it reports is stored (N2). Returns undefined for a
 * job that is no notification, that knows already, or that is to be cancelled.
 */
export function subjectMove(
  job: NewJob | LiveJob,
  now: number,
  world: World,
): SubjectMove | undefined {
  const notifies = notifiesOf(job);
  if (notifies === undefined || notifies.since !== undefined || isCancelRequested(job)) {
    return undefined;
  }
  const subject = world.subject(notifies.job);
  switch (subject.kind) {
    case 'unknown':
      return lookUp({ subjects: [notifies.job] });
    case 'absent':
      // It was removed since: what was decided upon its end is all that is known.
      return released(job, notifies, now);
    case 'there':
      return afterSubject({ job, notifies }, subject.doc, now, world);
  }
}

/** A job that notifies, and of what. */
type Notification = { readonly job: NewJob | LiveJob; readonly notifies: Notifies };

function afterSubject(
  { job, notifies }: Notification,
  subject: Doc & { readonly _id: string },
  now: number,
  world: World,
): SubjectMove {
  const isEnded = isFinalState(subject['state']);
  const named = notificationsOf(subject).find(({ id }) => id === job._id);
  if (named !== undefined) {
    // A subject that goes on since has ended as it was told.
    const isOfNow = named.event === undefined && isEnded && subject['end'] === named.at;
    const included = isOfNow ? includedOf(subject, notifies, world) : {};
    return released(job, { ...notifies, ...included }, now);
  }
  if (!isEnded && isStillTheSame(notifies, subject)) {
    const until = notifies.event === undefined ? 'has ended' : `is stored as ${notifies.event}`;
    return { kind: 'wait', because: `It waits until job ${notifies.job} ${until}.` };
  }
  const skipped =
    notifies.event === undefined
      ? `Job ${notifies.job} did not end as this notification was to tell.`
      : `Job ${notifies.job} went on before it was stored as ${notifies.event}.`;
  return { kind: 'write', job: unneeded(job, skipped, now) };
}

function released(job: NewJob | LiveJob, notifies: Notifies, now: number): SubjectMove {
  return { kind: 'knows', job: { ...job, notifies: { ...notifies, since: now } } };
}

/** The subject is in the run that this notification was made for, or may yet come to its end. */
function isStillTheSame({ start, run, of_rev: rev }: Notifies, subject: Doc): boolean {
  if (rev !== undefined) return true;
  return subject['start'] === start && subject['run'] === run;
}

/** Nothing is to be told. */
function unneeded(job: NewJob | LiveJob, skipped: string, now: number): FinalJob {
  const result = { skipped };
  if (job.state !== undefined) return finish(job, { exit: exits.success, result }, now);
  return {
    ...job,
    state: '$$complete',
    start: now,
    end: now,
    exit: exits.success,
    result,
    steps: [],
  };
}
