import { mostEntries, readNotify, type Notifies, type NotifyEntry } from '../../model/notify.js';
import { asVersion, versionOf } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import { tellingDepth } from '../../reading/parent.js';
import { lookUp, type Query } from '../queries.js';
import type { World } from '../world.js';
import { runOf, type Subject } from './notification.js';

/** The part of the world that notifications ask. */
export type NotifyWorld = Pick<World, 'flow' | 'child' | 'linkOf' | 'notifyLists' | 'answerLinks'>;

type Doc = Readonly<Record<string, unknown>>;

/** Maximum depth of notifications about notifications. */
export const mostTelling = 3;

const nobody = { kind: 'known', wanted: [] } as const;

/**
 * Returns the entries that may tell of the end of a job: those of its flow, its own, and those of notify
 * lists, which add up.
 */
export function wantedOf(job: Doc, world: NotifyWorld): Query | Wanting {
  const { notify, flow_definition: settings } = job;
  const ofLists = listed(job, world, 'end');
  const isFlowSilent = isObject(settings) && settings['notify'] === undefined;
  if (notify === undefined && isFlowSilent && ofLists.length === 0) return nobody;
  if (isPartOfAnother(job) || tellingDepth(job) >= mostTelling) return nobody;
  const ofFlow = flowsNotify(job, world);
  return ofFlow.kind === 'look_up' ? ofFlow : together(job, ofFlow, ofLists);
}

/** Returns the entries that may tell of a live job that is no slice; lists tell of child jobs as well. */
export function wantedAlive(job: Doc & SnapshotOfFlow, world: NotifyWorld): readonly Wanted[] {
  if (tellingDepth(job) >= mostTelling) return [];
  return together(job, notifyOf(job.flow_definition), listed(job, world, 'alert')).wanted;
}

type SnapshotOfFlow = { readonly flow_definition: Doc };

type Wanting = { readonly kind: 'known'; readonly wanted: readonly Wanted[] };

function together(job: Doc, ofFlow: KnownNotify, ofLists: readonly Wanted[]): Wanting {
  const own = numbered([ofFlow, { notify: job['notify'] }]);
  return { kind: 'known', wanted: ofFlow.isApart === true ? own : [...own, ...ofLists] };
}

/** A slice ends with its map, and the work of a job that goes on as a new one has not ended. */
function isPartOfAnother(job: Doc): boolean {
  return job['slice'] !== undefined || job['continued_to'] !== undefined;
}

/** The entries of notify lists. They leave out ends of child jobs, of which their parents tell, and notifications. */
function listed(
  job: Doc,
  { notifyLists }: Pick<NotifyWorld, 'notifyLists'>,
  about: 'end' | 'alert',
): readonly Wanted[] {
  if ((about === 'end' && job['parent'] !== undefined) || tellingDepth(job) > 0) return [];
  return notifyLists(ownerOf(job)).map(({ of, at, owner, entry }) => ({
    entry,
    owner,
    number: `${of}:${at}`,
  }));
}

/** A list of entries; `of`: the flow that has it. */
type Written = { readonly notify: unknown; readonly of?: Pick<Of, 'flow' | 'owner' | 'version'> };
type Of = NonNullable<Notifies['entry']>;

/** `isApart`: notify lists leave out jobs of the flow. */
type KnownNotify = { readonly kind: 'known'; readonly isApart?: boolean } & Written;
type FlowsNotify = Query | KnownNotify;

/** `notify` of the snapshot; of a job that never began, of its flow as it is now. */
function flowsNotify(job: Doc, { flow }: NotifyWorld): FlowsNotify {
  const { flow_definition: settings, flow: name, tasks, owner, flow_version: asked } = job;
  if (isObject(settings)) return notifyOf(settings);
  if (typeof name !== 'string' || tasks !== undefined) return { kind: 'known', notify: undefined };
  const of = typeof owner === 'string' ? owner : defaultOwner;
  const found = flow(name, of, { version: asVersion(asked) });
  if (found.kind === 'unknown') return lookUp({ flows: [{ name, owner: of }] });
  return found.kind === 'found' ? notifyOf(found.value) : { kind: 'known', notify: undefined };
}

function notifyOf(settings: Doc): KnownNotify {
  const { notify, name, notify_lists } = settings;
  const version = versionOf(settings);
  const of = { flow: String(name), owner: ownerOf(settings), ...(version && { version }) };
  return { kind: 'known', notify, of, isApart: notify_lists === false };
}

/** An entry that may tell of a job. */
export type Wanted = {
  readonly entry: NotifyEntry;
  readonly of?: Of | undefined;
  /** The owner of the notify list that it is in. */
  readonly owner?: string | undefined;
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

/** Returns the id of a notification. Where it is that of a notification of a former job of the same id, it gets a mark. */
export function freeId(before: Subject, number: Wanted['number'], { child }: NotifyWorld): FreeId {
  const [id, marked] = idsOf(before, number);
  const first = kindOf(child(id).kind);
  if (first !== 'foreign') return { kind: first, id };
  const second = kindOf(child(marked).kind);
  return { kind: second === 'foreign' ? 'there' : second, id: marked };
}

/** The ids that a notification may have. */
export function idsOf(before: Subject, number: Wanted['number']): readonly [string, string] {
  const { _id } = before;
  const place = `${runOf(before)}:${number}`;
  return [`${_id}:notify:${place}`, `${_id}:notify-${markOf(before)}:${place}`];
}

function kindOf(kind: ReturnType<World['child']>['kind']): FreeId['kind'] | 'foreign' {
  return kind === 'live' || kind === 'final' ? 'there' : kind;
}

function markOf(before: Subject): string {
  return runOf(before) === 0 ? before._rev : String(before['start']);
}
