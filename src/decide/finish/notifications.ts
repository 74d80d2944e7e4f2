import { isFinal, type FinalJob, type NewJob, type LiveJob } from '../../model/job.js';
import { isAbout, notificationsOf, type NotificationMade } from '../../model/notify.js';
import { statusOf } from '../../reading/status.js';
import { lookUp, type Query } from '../queries.js';
import type { ChildJob, Intent } from '../intent.js';
import type { World } from '../world.js';
import { notificationOf, runOf, type Subject } from './notification.js';
import { freeId, wantedOf, type NotifyWorld } from './wanted.js';

/**
 * Notifications of the end of a job: its flow's (`notify`), its own, and those of notify lists, which add up.
 *
 * N1 A notification is a job. It is made before the final revision of its subject is written, so that
 *    none is lost with an engine that dies in between; the final revision names those that it is for.
 * N2 It does nothing until its subject is final; one that the final revision does not name was made
 *    for an end that did not come about, and ends without telling anybody.
 * N3 Its id follows from the subject, the run and the place of the entry: whoever ends a job makes the
 *    same ones.
 * N4 It never changes its subject, and what tells of what tells ends at some depth.
 */

/**
 * The final job with the names of its notifications, and those that must be created before it is
 * written.
 */
type Announced = {
  readonly kind: 'announced';
  readonly job: FinalJob;
  readonly makes: readonly ChildJob[];
};

/** Makes an intent that ends a job that was not final create its notifications first. */
export function withNotifications(before: NewJob | LiveJob, intent: Intent, world: World): Intent {
  if (intent.kind !== 'write' || !isFinal(intent.job)) return intent;
  const announced = announce(before, intent.job, world);
  if (announced.kind === 'look_up') return announced;
  const { job, makes } = announced;
  if (job === intent.job) return intent;
  return { ...intent, job, ...(makes.length === 0 ? {} : { makes }) };
}

/** Returns the notifications about the end of a job, also of one that could not be read. */
export function announce(before: Subject, ended: FinalJob, world: NotifyWorld): Announced | Query {
  const nothing: Announced = { kind: 'announced', job: ended, makes: [] };
  const found = wantedOf(ended, world);
  if (found.kind === 'look_up') return found;
  const status = statusOf(ended, 0);
  const wanted = found.wanted.filter(({ entry }) => isAbout(entry, status));
  const at = Number(ended.end);
  const unknown: string[] = [];
  const makes: ChildJob[] = [];
  const made: NotificationMade[] = [];
  for (const { number, ...notified } of wanted) {
    const free = freeId(before, number, world);
    if (free.kind === 'unknown') unknown.push(free.id);
    else {
      const { id } = free;
      made.push({ id, run: runOf(before), at });
      if (free.kind === 'absent')
        makes.push(notificationOf({ before, ended, at, ...notified, id }, world));
    }
  }
  if (unknown.length > 0) return lookUp({ children: unknown });
  if (made.length === 0) return nothing;
  const notifications = [...notificationsOf(ended), ...made];
  return { kind: 'announced', job: { ...ended, notifications }, makes };
}
