import { engineSchema, type EngineDocument } from '../model/engine.js';
import type { StoredDocument } from '../model/parse.js';
import type { Store } from '../store/store.js';
import type { DefinitionKind } from './definitions.js';

export const jobFilters = ['active', 'complete', 'failed', 'cancelled', 'all'] as const;
/** `complete`: ended, with or without success; `failed`: ended without, but not cancelled. */
export type JobFilter = (typeof jobFilters)[number];

/** `more` is true when there are further ones beyond the limit, `left` how many, up to `mostCounted`. */
export type JobList = {
  readonly jobs: readonly StoredDocument[];
  readonly more: boolean;
  readonly left: number;
};

/** Of the failed jobs, those of one flow or with one failure. */
export type FailedJobs = {
  readonly flow?: string | undefined;
  readonly failure?: string | undefined;
};

/** Jobs beyond the limit are counted up to this number. */
export const mostCounted = 10_000;

/** All tasks or all flows, by name. */
export async function listOf(
  store: Store,
  kind: DefinitionKind,
): Promise<readonly StoredDocument[]> {
  const rows = await store.view(kind === 'task' ? 'tasks' : 'flows', { includeDocs: true });
  return rows.flatMap(({ doc }) => doc ?? []);
}

/** Jobs of a kind, at most `limit`. */
export async function listJobs(
  store: Store,
  filter: JobFilter,
  limit: number,
  which: FailedJobs = {},
): Promise<JobList> {
  const ids = await idsOf(store, filter, limit + 1, which);
  const wanted = ids.slice(0, limit);
  const docs = await store.getMany(wanted);
  const more = ids.length > limit;
  const left = more ? (await idsOf(store, filter, limit + mostCounted, which)).length - limit : 0;
  return { jobs: wanted.flatMap((id) => docs.get(id) ?? []), more, left };
}

async function idsOf(
  store: Store,
  filter: JobFilter,
  limit: number,
  which: FailedJobs,
): Promise<readonly string[]> {
  const idOf = ({ id }: { readonly id: string }): string => id;
  switch (filter) {
    case 'active':
      return (await store.view('unfinished', { limit })).map(idOf);
    case 'failed':
      return failedJobs(store, limit, which);
    case 'all':
      return (await store.view('jobs', { limit })).map(idOf);
    case 'complete':
      return jobsInState(store, '$$complete', limit);
    case 'cancelled':
      return jobsInState(store, '$$cancelled', limit);
  }
}

/** Rows read at a time where the view does not sort by what is wanted. */
const page = 1_000;

async function jobsInState(store: Store, state: string, limit: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let skip = 0; found.length < limit; skip += page) {
    const rows = await store.view('jobs', { limit: page, skip });
    found.push(...rows.filter(({ value }) => value.state === state).map(({ id }) => id));
    if (rows.length < page) break;
  }
  return found.slice(0, limit);
}

/** The view has cancelled jobs, too: those ended because somebody wanted it. */
async function failedJobs(
  store: Store,
  limit: number,
  { flow, failure }: FailedJobs,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let skip = 0; found.length < limit; skip += page) {
    const includeDocs = failure !== undefined;
    const rows = await store.view('failed', { limit: page, skip, includeDocs });
    const wanted = rows.filter(
      ({ key, value, doc }) =>
        !(value.exit === 130 && (value.failure ?? 'Cancelled') === 'Cancelled') &&
        (flow === undefined || key[0] === flow) &&
        (failure === undefined || wordsOf(doc?.['failure']).includes(failure)),
    );
    found.push(...wanted.map(({ id }) => id));
    if (rows.length < page) break;
  }
  return found.slice(0, limit);
}

/** The name of a failure, and its code. */
function wordsOf(failure: unknown): readonly string[] {
  const { name, code } = (failure ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  return [name, code].filter((word) => word !== undefined).map(String);
}

/** The documents of the engines. */
export async function listEngines(store: Store): Promise<readonly EngineDocument[]> {
  const rows = await store.view('engines', { includeDocs: true });
  return rows.flatMap(({ doc }) => {
    const parsed = engineSchema.safeParse(doc);
    return parsed.success ? [parsed.data] : [];
  });
}
