import { announcedEvent, isLiving, type AnnouncedEvent } from '../model/event.js';
import type { StoredDocument } from '../model/document.js';
import type { Store } from './store.js';

/** Number of events of one type and key that a wait looks at: the latest ones. */
export const mostLooked = 200;
/** Number of rows that are read at once. */
const mostRows = 10_000;

/**
 * Returns the events of a type and key that live at `now` (epoch ms), the latest ones where there are more than
 * `mostLooked`. `usualTtlMs`: how long one lives that has no `ttl`. One that no engine has handled yet is among the latest.
 */
export async function readEvents(
  store: Pick<Store, 'view' | 'getMany'>,
  { type, key: about }: { readonly type: string; readonly key: string },
  { now, usualTtlMs }: { readonly now: number; readonly usualTtlMs?: number | undefined },
): Promise<readonly AnnouncedEvent[]> {
  const key = [type, about];
  const rows = await store.view('events', { key, includeDocs: true, limit: mostLooked });
  const docs = rows.flatMap(({ doc }) => doc ?? []);
  const found = rows.length < mostLooked ? docs : await latest(store, key, now);
  return found
    .map((doc) => announcedEvent(doc, usualTtlMs))
    .filter((event) => isLiving(event, now));
}

async function latest(
  store: Pick<Store, 'view' | 'getMany'>,
  key: readonly string[],
  now: number,
): Promise<readonly StoredDocument[]> {
  const living: { readonly id: string; readonly at: number; readonly until: number }[] = [];
  for (let after: string | undefined; ;) {
    // The row at which a page begins was read before, unless that event was removed meanwhile.
    const from = after === undefined ? {} : { startKeyDocId: after };
    const limit = after === undefined ? mostRows : mostRows + 1;
    const rows = await store.view('events', { startKey: key, endKey: key, limit, ...from });
    for (const { id, value } of rows) {
      const event = { id, at: value?.[0] ?? Infinity, until: value?.[1] ?? Infinity };
      if (id !== after && isLiving(event, now)) living.push(event);
    }
    if (rows.length < limit) break;
    after = rows.at(-1)?.id;
  }
  living.sort((a, b) => (a.at === b.at ? 0 : b.at - a.at));
  const ids = living.slice(0, mostLooked).map(({ id }) => id);
  const docs = await store.getMany(ids);
  return ids.flatMap((id) => docs.get(id) ?? []);
}
