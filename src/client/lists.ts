import { engineSchema, type EngineDocument } from '../model/engine.js';
import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';
import { ownerOf } from '../model/task.js';
import { definitionViews, type NamedKind } from './definitions.js';

/** All tasks, flows, schedules or hooks, by name; `owners`: of these only. */
export async function listDefinitions(
  store: Store,
  kind: NamedKind,
  owners?: readonly string[],
): Promise<readonly StoredDocument[]> {
  const rows = await store.view(definitionViews[kind], { includeDocs: true });
  const docs = rows.flatMap(({ doc }) => doc ?? []);
  return owners === undefined ? docs : docs.filter((doc) => owners.includes(ownerOf(doc)));
}

/** Jobs that have not ended, at most `limit`; `more`: there are further ones. */
export type UnfinishedJobs = { readonly jobs: readonly StoredDocument[]; readonly more: boolean };

/** Jobs that have not ended, at most `limit`. */
export async function unfinishedJobs(store: Store, limit: number): Promise<UnfinishedJobs> {
  const rows = await store.view('unfinished', { limit: limit + 1 });
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const docs = await store.getMany(ids);
  return { jobs: ids.flatMap((id) => docs.get(id) ?? []), more: rows.length > limit };
}

/** A request or signal that could not be applied to any job; it stays until it is deleted. */
export type RefusedMessage = { readonly id: string; readonly why: string };

/** Requests and signals that could not be applied to any job, at most `limit`. @throws TwsError `view_missing` */
export async function refusedMessages(
  store: Store,
  limit: number,
): Promise<readonly RefusedMessage[]> {
  const rows = await store.view('refused', { limit });
  return rows.map(({ id, value }) => ({ id, why: value }));
}

/** The documents of the engines. */
export async function listEngines(store: Store): Promise<readonly EngineDocument[]> {
  const rows = await store.view('engines', { includeDocs: true });
  return rows.flatMap(({ doc }) => {
    const parsed = engineSchema.safeParse(doc);
    return parsed.success ? [parsed.data] : [];
  });
}
