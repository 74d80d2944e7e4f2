import { failure } from '../../model/failures.js';
import { isLiving } from '../../model/event.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import type { ViewRow } from '../../store/views.js';
import { shortened } from '../../words.js';
import type { Assembly } from '../assembly.js';
import { reportMalformed } from './report-malformed.js';

type Parts = Pick<
  Assembly,
  'store' | 'jobs' | 'retry' | 'log' | 'serializer' | 'isReporter' | 'heardEvents'
>;

/**
 * An event was announced: every job that waits for its type and key is looked at again. Not once more for
 * a revision that is known, or that differs in what engines write into it only.
 */
export function takeEvent(parts: Parts, doc: StoredDocument): void {
  const { store, jobs, retry, isReporter, heardEvents } = parts;
  const before = heardEvents.get(doc._id);
  const name = JSON.stringify([doc['event'], doc['key']]);
  heardEvents.set(doc._id, { rev: doc._rev, name });
  if (before?.rev === doc._rev) return;
  if (before?.name === name && doc['triggered'] !== undefined) return;
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'event') return;
  if (!parsed.ok) {
    const why = failure('InvalidEvent', { problem: parsed.problems[0].message });
    return reportMalformed(parts, doc, 'event', why);
  }
  const { event, key = '' } = parsed.value;
  void retry(async () => {
    const rows = await store.view('waiting', { key: ['event', event, key] });
    for (const id of new Set(rows.map((row) => row.id))) jobs.rouse(id);
    // Every engine sees that nobody waits for it; one reports it, of what its author stored.
    const isFirst = doc['triggered'] === undefined;
    if (rows.length === 0 && isFirst && isReporter(doc._id))
      await logUnheard(parts, doc._id, event, key);
  });
}

/** Longest type or key of an event that the log shows. */
const longestShown = 100;

function quoted(text: string): string {
  return JSON.stringify(shortened(text, longestShown));
}

/** Logs that no job waits for an event, and which key of it jobs do wait for. */
async function logUnheard(
  { store, log }: Pick<Parts, 'store' | 'log'>,
  id: string,
  event: string,
  key: string,
): Promise<void> {
  const name = ({ of, about }: { of: string; about: string }): string =>
    about === '' ? `${quoted(of)} without a key` : `${quoted(of)} with the key ${quoted(about)}`;
  const message = `Event ${id}: no job waits for ${name({ of: event, about: key })} now; jobs that wait for it later get it.`;
  const query = { startKey: ['event', event], endKey: ['event', event, {}], limit: 1 };
  const [other] = await store.view('waiting', query);
  if (other === undefined) return log.info({ event: id }, message);
  const about = String(other.key[2]);
  log.warn({ event: id }, `${message} Job ${other.id} waits for ${name({ of: event, about })}.`);
}

/** So many waiting steps are compared with the announced events at a time. */
const pageSize = 200;

/** What a job that waits has been woken for: how many events, and the time of the latest one. */
const wokenFor = new WeakMap<object, Woken>();
type Woken = { readonly jobs: ReadonlyMap<string, string>; readonly looks: number };
/** Each so many looks all of them are woken: an engine that was to decide may have died. */
const looksToAll = 10;

/**
 * Looks for waiting steps whose event was announced while no engine ran. A job whose `match` takes none of the
 * events is not woken again for the same ones.
 */
export async function releaseWaiting(
  { store, jobs, now }: Pick<Assembly, 'store' | 'jobs' | 'now'>,
  waiting: AsyncIterable<ViewRow<'waiting'>>,
): Promise<void> {
  const { jobs: before, looks } = wokenFor.get(jobs) ?? {
    jobs: new Map<string, string>(),
    looks: 0,
  };
  const isForAll = looks % looksToAll === 0;
  const woken = new Map<string, string>();
  let page: ViewRow<'waiting'>[] = [];
  const look = async (): Promise<void> => {
    if (page.length === 0) return;
    const found = await livingEvents(store, page, now());
    for (const { id, key } of page) {
      const events = found.get(JSON.stringify(key.slice(1)));
      if (events === undefined) continue;
      const all = `${woken.get(id) ?? ''} ${JSON.stringify([key, events])}`;
      woken.set(id, all);
      if (isForAll || before.get(id)?.startsWith(all) !== true) jobs.wake(id);
    }
    page = [];
  };
  for await (const row of waiting) {
    page.push(row);
    if (page.length === pageSize) await look();
  }
  await look();
  wokenFor.set(jobs, { jobs: woken, looks: looks + 1 });
}

/** The events that live among those that steps wait for, by type and key: how many, and when the latest one came. */
async function livingEvents(
  store: Pick<Assembly['store'], 'view'>,
  page: readonly ViewRow<'waiting'>[],
  now: number,
): Promise<ReadonlyMap<string, readonly [count: number, at: number]>> {
  const names = new Set(page.map(({ key }) => JSON.stringify(key.slice(1))));
  const keys = [...names].map((name) => JSON.parse(name) as unknown);
  const found = new Map<string, readonly [number, number]>();
  for (const { key, value } of await store.view('events', { keys })) {
    const [at, until] = value ?? [];
    if (!isLiving({ until: until ?? Infinity }, now)) continue;
    const name = JSON.stringify(key);
    const [count, latest] = found.get(name) ?? [0, 0];
    found.set(name, [count + 1, Math.max(latest, at ?? 0)]);
  }
  return found;
}
