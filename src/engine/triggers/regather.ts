import { addTo } from '../../model/grouped.js';
import { gatheredAnew, withItsJob } from '../../decide/triggers/joined-event.js';
import type { StoredDocument } from '../../model/document.js';
import { readGathering } from '../../model/gathering.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { unclear, writeFollowed } from '../loop/write-followed.js';
import { currentOf } from './join.js';
import { eventIn } from './starting.js';

/** Number of gatherings that are read at once. */
const together = 100;

type Waiting = readonly [gathering: string, events: readonly string[]];

/**
 * Has events gathered again that their gathering does not have any more: somebody deleted or edited it.
 */
export async function regather(parts: FollowParts): Promise<void> {
  const all = [...(await waitingEvents(parts))];
  for (let from = 0; from < all.length; from += together) {
    if (parts.ending.signal.aborted) return;
    const some = all.slice(from, from + together);
    const docs = await parts.store.getMany(some.map(([gathering]) => gathering));
    for (const [gathering, events] of some) {
      if (without(docs.get(gathering), events).length > 0)
        await restore(parts, [gathering, events]);
    }
  }
}

/** The ids of the events that say that they wait, by gathering. */
async function waitingEvents({
  store,
  ending,
}: FollowParts): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const query = { startKey: ['gathered'], endKey: ['gathered', {}] };
  try {
    for await (const { id, key } of store.rows('triggers', query, ending.signal)) {
      addTo(found, String(key[1]), id);
    }
  } catch (error) {
    // The views are of an earlier version, which gathers nothing.
    if ((error as { readonly code?: unknown }).code !== 'view_missing') throw error;
  }
  return found;
}

function without(doc: StoredDocument | undefined, events: readonly string[]): readonly string[] {
  const { events: waiting = [], starting } = (doc && readGathering(doc)) ?? {};
  const has = new Set([...waiting, ...(starting?.events ?? [])].map(({ id }) => id));
  return events.filter((id) => !has.has(id));
}

/**
 * The rows may be older than the gathering, and one copy of it may be older than another. An event that joins
 * once more although it is there changes nothing.
 */
async function restore(parts: FollowParts, [gathering, events]: Waiting): Promise<void> {
  const current = await currentOf(parts, gathering);
  const lost = current === unclear ? [] : without(current, events);
  if (lost.length === 0) return;
  const jobs = await jobsFrom(parts, gathering, lost);
  await Promise.all(
    lost.map(async (id) => {
      const doc = await currentOf(parts, id);
      const event = doc === unclear ? undefined : eventIn(doc);
      const job = jobs.get(id);
      if (event !== undefined && job !== undefined) {
        const told = withItsJob(event, { ...whoseOf(job), _id: gathering }, madeOf(job));
        if (told !== undefined) await writeFollowed(parts, told);
        return;
      }
      const next = event && gatheredAnew(event, gathering);
      if (next === undefined) return;
      parts.log.warn(
        { event: id, gathering },
        `Event ${id} is gathered again: ${gathering} lost it.`,
      );
      await writeFollowed(parts, next);
    }),
  );
}

/**
 * The jobs that were made for lost events before their gathering was deleted, by event. Their ids do not tell: all
 * jobs that events have started for the flow are looked at, which happens only when somebody deletes what engines
 * keep.
 */
async function jobsFrom(
  { store, ending }: FollowParts,
  gathering: string,
  lost: readonly string[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  const wanted = new Set(lost);
  const name = /^gathering:(.*):[^:]*$/s.exec(gathering)?.[1];
  if (name === undefined) return found;
  for await (const job of store.rangePages(`event-run:${name}:`)) {
    if (ending.signal.aborted) return found;
    const { started_by: by } = job;
    if (!isObject(by) || by['gathering'] !== gathering || !Array.isArray(by['events'])) continue;
    for (const id of by['events'] as readonly unknown[])
      if (typeof id === 'string' && wanted.has(id)) found.set(id, job);
  }
  return found;
}

const whoseOf = (job: StoredDocument) => ({ flow: String(job['flow']), owner: ownerOf(job) });
const madeOf = ({ _id: job }: StoredDocument) => ({ job, made: { kind: 'made' } as const });
