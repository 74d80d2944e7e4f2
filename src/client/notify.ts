import { randomUUID } from 'node:crypto';
import { notificationOf, type AlertFacts } from '../decide/finish/notification.js';
import { idsOf, wantedAlive, type Wanted } from '../decide/finish/wanted.js';
import type { NotifyWorld } from '../decide/finish/wanted.js';
import { unknownWorld } from '../decide/world.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { chooseVersion, whyNotChosen } from '../model/flow-versions.js';
import { isAbout, isAlert, type NotifyEntry } from '../model/notify.js';
import type { Occasion } from '../model/occasions.js';
import {
  entriesFor,
  readNotifyList,
  settingsEntries,
  type ListEntry,
  type NotifySettings,
} from '../model/notify-list.js';
import { defaultOwner } from '../model/task.js';
import { parseDocument } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { findDefinition } from './definitions.js';
import { writeDocument } from './writes.js';

/** Whose notifications are meant. */
export type NotifyQuery = {
  /** Default: DEFAULT. */
  readonly owner?: string | undefined;
  /** With the entries of this flow; default: those of notify lists alone. */
  readonly flow?: string | undefined;
  /** `notify` of `tws.json`. */
  readonly settings?: NotifySettings | undefined;
  /** Whether the lists and flows of an owner are meant; default: all. */
  readonly isMeant?: ((owner: string) => boolean) | undefined;
};

/** Who is notified; `from`: the flow, the id of the list, or `tws.json`. `at`: its place there. */
export type NotifyTarget = {
  readonly from: string;
  readonly at: number;
  readonly on: readonly Occasion[];
  readonly kind: 'url' | 'task' | 'flow';
  /** Name of the task or flow; of a webhook the server alone, since the rest is often a secret. */
  readonly to: string;
};

/** What is to be tested: the entries that ask for an event. */
export type NotifyTestQuery = NotifyQuery & { readonly event: TestedEvent };
export type TestedEvent = Exclude<Occasion, 'ended'>;

/** What a test sent: the job that sends it. */
export type NotifyTest = NotifyTarget & { readonly job: string };

/**
 * Lists who is notified of jobs of an owner: the entries of a flow, then those of notify lists.
 * @throws TwsError `definition_missing`, `definition_ambiguous`, `document_invalid`
 */
export async function listNotify(
  store: Store,
  query: NotifyQuery,
): Promise<readonly NotifyTarget[]> {
  const { wanted, flow } = await wantedFor(store, query);
  return wanted.map((one) => targetOf(one, flow));
}

/**
 * Stores a notification for each entry that asks for an event, as if a job of the flow had come to it;
 * engines send them. @throws TwsError as `listNotify`
 */
export async function testNotify(
  store: Store,
  query: NotifyTestQuery,
  now: number,
): Promise<readonly NotifyTest[]> {
  const { event } = query;
  const { wanted, flow, subject } = await wantedFor(store, query);
  const job = { ...subject, start: now, ...stateOf(event, now) };
  const tests: NotifyTest[] = [];
  for (const one of wanted.filter(({ entry }) => asks(entry, event))) {
    const [id] = idsOf(job, one.number);
    const alert = alertOf(event, now);
    const made = notificationOf(
      { ...one, before: job, ended: job, at: now, id, ...(alert && { alert }) },
      unknownWorld,
    );
    const notifies = { ...(made['notifies'] as object), since: now };
    await writeDocument(store, { ...made, notifies });
    tests.push({ ...targetOf(one, flow), job: id });
  }
  return tests;
}

/** The notify lists of the database. */
export async function storedLists(store: Store): Promise<readonly StoredDocument[]> {
  const rows = await store.view('engines');
  const ids = rows.flatMap(({ id, value }) => (value === 'notify' ? [id] : []));
  const docs = ids.length === 0 ? [] : [...(await store.getMany(ids)).values()];
  return docs.filter((doc) => doc['type'] === 'notify').sort((a, b) => (a._id < b._id ? -1 : 1));
}

async function listedFor(
  store: Store,
  owner: string,
  { settings = [], isMeant = () => true }: NotifyQuery,
): Promise<readonly ListEntry[]> {
  const lists = (await storedLists(store)).map(readNotifyList);
  const stored = lists.flatMap(({ entries }) => entries);
  const all = entriesFor([...settingsEntries(settings), ...stored], owner);
  return all.filter((entry) => isMeant(entry.owner));
}

/** The entries, and the job that is told of, as far as it does not depend on what is told. */
async function wantedFor(store: Store, query: NotifyQuery) {
  const { owner = defaultOwner, flow, isMeant = () => true } = query;
  const owners = [...new Set([owner, defaultOwner])].filter(isMeant);
  const stored = flow === undefined ? undefined : await flowNamed(store, flow, owners);
  const subject = {
    _id: `notify-test-${randomUUID()}`,
    _rev: '0-0',
    type: 'job',
    owner,
    run: 1,
    ...(flow === undefined ? {} : { flow }),
    flow_definition: stored ?? { type: 'flow', name: flow ?? '', owner },
  };
  const lists = await listedFor(store, owner, query);
  const around: NotifyWorld = { ...unknownWorld, notifyLists: () => lists };
  return { subject, flow, wanted: wantedAlive(subject, around) };
}

async function flowNamed(store: Store, name: string, owners: readonly string[]) {
  for (const one of owners) {
    const choice = chooseVersion(await findDefinition(store, 'flow', name, one));
    if (choice.kind === 'ambiguous') {
      const ids = choice.docs.map(({ _id }) => _id);
      const why = whyNotChosen(choice, undefined);
      throw problem('definition_ambiguous', { kind: 'flow', name, owner: one, ids, why });
    }
    const doc = choice.kind === 'chosen' ? choice.doc : undefined;
    const parsed = doc === undefined ? undefined : parseDocument(doc);
    if (parsed?.kind === 'flow' && parsed.ok) return parsed.value;
    if (parsed?.kind === 'flow' && !parsed.ok) {
      const [first, ...more] = parsed.problems;
      throw problem('document_invalid', {
        ...{ kind: 'flow', first: first?.message ?? '', more: more.length },
      });
    }
  }
  throw problem('definition_missing', { kind: 'flow', name, owner: String(owners[0]) });
}

function asks(entry: NotifyEntry, event: TestedEvent): boolean {
  return isAlert(event) ? entry.on?.includes(event) === true : isAbout(entry, event);
}

function stateOf(event: TestedEvent, now: number) {
  const ended = { state: '$$complete', end: now, steps: [] };
  switch (event) {
    case 'succeeded':
      return { ...ended, exit: 0 };
    case 'failed':
      return { ...ended, exit: 2, failure: { name: 'Test', message: testText } };
    case 'cancelled':
      return { ...ended, state: '$$cancelled', exit: 130 };
    case 'late':
    case 'stuck':
    case 'waiting':
    case 'reminder':
    case 'due':
    case 'escalated':
      return { state: '$$ready', steps: [] };
  }
}

const testText = 'This is a test of notifications: nothing has happened.';

function alertOf(event: Occasion, at: number): AlertFacts | undefined {
  return isAlert(event) ? { event, because: testText, at } : undefined;
}

function targetOf({ number, entry, of }: Wanted, flow = ''): NotifyTarget {
  const [, from = `flow ${of?.flow ?? flow}`, at = number] =
    /^(.*):(\d+)$/.exec(String(number)) ?? [];
  const { url, task, flow: name, on = ['ended'] } = entry;
  const kind = url !== undefined ? 'url' : task !== undefined ? 'task' : 'flow';
  return { from, at: Number(at), on, kind, to: task ?? name ?? serverOf(url) };
}

function serverOf(url: NotifyEntry['url']): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : '[secret]';
}
