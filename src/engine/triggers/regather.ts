import { gatheredAnew } from '../../decide/triggers/joined-event.js';
import type { StoredDocument } from '../../model/document.js';
import { readGathering } from '../../model/gathering.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { writeFollowed } from '../loop/write-followed.js';
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
      const known = found.get(key[1]);
      if (known === undefined) found.set(key[1], [id]);
      else known.push(id);
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
  const lost = without(await currentOf(parts, gathering), events);
  await Promise.all(
    lost.map(async (id) => {
      const event = eventIn(await currentOf(parts, id));
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
