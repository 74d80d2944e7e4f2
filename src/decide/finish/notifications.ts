import { isFinal, type FinalJob, type NewJob, type LiveJob } from '../../model/job.js';
import {
  isAbout,
  mostEntries,
  notificationsOf,
  readNotify,
  type NotificationMade,
  type Notifies,
  type NotifyEntry,
} from '../../model/notify.js';
import { statusOf } from '../../reading/status.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import { lookUp, type Query } from '../queries.js';
import type { ChildJob, Intent } from '../intent.js';
import type { World } from '../world.js';
import { notificationOf, runOf, type Subject } from './notification.js';
import { tellingDepth } from '../../reading/parent.js';
import { isObject } from '../../model/object.js';

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

/** Maximum depth of notifications about notifications. */
export const mostTelling = 3;

/** The part of the world that notifications ask. */
export type NotifyWorld = Pick<World, 'flow' | 'child' | 'linkOf' | 'notifyLists'>;

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
  const { notify, flow_definition: settings } = ended;
  const ofLists = listed(ended, world);
  const isFlowSilent = isObject(settings) && settings['notify'] === undefined;
  if (notify === undefined && isFlowSilent && ofLists.length === 0) return nothing;
  if (isPartOfAnother(ended) || tellingDepth(ended) >= mostTelling) return nothing;
  const ofFlow = flowsNotify(ended, world);
  if (ofFlow.kind === 'look_up') return ofFlow;
  const own = numbered([ofFlow, { notify: ended['notify'] }]);
  const all = ofFlow.isApart === true ? own : [...own, ...ofLists];
  const status = statusOf(ended, 0);
  const wanted = all.filter(({ entry }) => isAbout(entry, status));
  const unknown: string[] = [];
  const makes: ChildJob[] = [];
  const made: NotificationMade[] = [];
  for (const { number, ...notified } of wanted) {
    const found = freeId(before, number, world);
    if (found.kind === 'unknown') unknown.push(found.id);
    else {
      const { id } = found;
      made.push({ id, run: runOf(before), at: Number(ended.end) });
      if (found.kind === 'absent')
        makes.push(notificationOf({ before, ended, ...notified, id }, world));
    }
  }
  if (unknown.length > 0) return lookUp({ children: unknown });
  if (made.length === 0) return nothing;
  const notifications = [...notificationsOf(ended), ...made];
  return { kind: 'announced', job: { ...ended, notifications }, makes };
}

/** A slice ends with its map, and the work of a job that goes on as a new one has not ended. */
function isPartOfAnother(ended: FinalJob): boolean {
  return ended['slice'] !== undefined || ended['continued_to'] !== undefined;
}

/** The entries of notify lists. They leave out child jobs, whose parents tell, and notifications. */
function listed(ended: FinalJob, { notifyLists }: NotifyWorld): readonly Wanted[] {
  if (ended['parent'] !== undefined || tellingDepth(ended) > 0) return [];
  return notifyLists(ownerOf(ended)).map(({ of, at, entry }) => ({
    entry,
    number: `${of}:${at}`,
  }));
}

/** A list of entries; `of`: the flow that has it. */
type Written = { readonly notify: unknown; readonly of?: Pick<Of, 'flow' | 'owner'> };
type Of = NonNullable<Notifies['entry']>;

/** `isApart`: notify lists leave out jobs of the flow. */
type FlowsNotify = Query | ({ readonly kind: 'known'; readonly isApart?: boolean } & Written);

/** `notify` of the snapshot; of a job that never began, of its flow as it is now. */
function flowsNotify(ended: FinalJob, { flow }: NotifyWorld): FlowsNotify {
  const { flow_definition: settings, flow: name, tasks, owner } = ended;
  if (isObject(settings)) return notifyOf(settings);
  if (typeof name !== 'string' || tasks !== undefined) return { kind: 'known', notify: undefined };
  const of = typeof owner === 'string' ? owner : defaultOwner;
  const found = flow(name, of);
  if (found.kind === 'unknown') return lookUp({ flows: [{ name, owner: of }] });
  return found.kind === 'found' ? notifyOf(found.value) : { kind: 'known', notify: undefined };
}

function notifyOf(settings: Readonly<Record<string, unknown>>): FlowsNotify {
  const { notify, name, notify_lists } = settings;
  const of = { flow: String(name), owner: ownerOf(settings) };
  return { kind: 'known', notify, of, isApart: notify_lists === false };
}

type Wanted = {
  readonly entry: NotifyEntry;
  readonly of?: Of | undefined;
  /** Tells it from the others: its number among those of flow and job, or its place in a notify list. */
  readonly number: number | string;
};

/** The entries that can be read, each with its number among all; what is wrong with others is no end. */
function numbered(written: readonly Written[]): readonly Wanted[] {
  return written
    .flatMap(({ notify, of }) =>
      (Array.isArray(notify) ? (notify as readonly unknown[]) : [])
        .slice(0, mostEntries)
        .map((one, at) => ({ one, of: of === undefined ? undefined : { ...of, at } })),
    )
    .flatMap(({ one, of }, number) =>
      readNotify([one]).entries.map((entry) => ({ entry, of, number })),
    );
}

type FreeId = { readonly kind: 'unknown' | 'absent' | 'there'; readonly id: string };

/** Where the id is that of a notification of a former job of the same id, it gets a mark. */
function freeId(before: Subject, number: Wanted['number'], { child }: NotifyWorld): FreeId {
  const id = `${before._id}:notify:${runOf(before)}:${number}`;
  const first = kindOf(child(id).kind);
  if (first !== 'foreign') return { kind: first, id };
  const marked = `${before._id}:notify-${markOf(before)}:${runOf(before)}:${number}`;
  const second = kindOf(child(marked).kind);
  return { kind: second === 'foreign' ? 'there' : second, id: marked };
}

function kindOf(kind: ReturnType<World['child']>['kind']): FreeId['kind'] | 'foreign' {
  return kind === 'live' || kind === 'final' ? 'there' : kind;
}

function markOf(before: Subject): string {
  return runOf(before) === 0 ? before._rev : String(before['start']);
}
