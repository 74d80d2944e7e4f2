import { asVersion } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { statusOf } from '../reading/status.js';
import type { Status } from '../model/status.js';
import { ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import type { JobRow } from '../store/views.js';
import { cursorOf, positionIn } from './cursor.js';
import { rowsInAll, rowsInOrder, type RowPosition, type SearchRow } from './search-rows.js';
import { textOf } from '../words.js';

/** What jobs are searched for: all that is given has to hold. Times in epoch ms. */
export type JobSearch = {
  readonly flow?: string | undefined;
  /** Version of the flow that the job runs, or has asked for. */
  readonly version?: string | undefined;
  /** Jobs of these owners; absent: of all. */
  readonly owners?: readonly string[] | undefined;
  /** One of these. */
  readonly status?: readonly Status[] | undefined;
  /** Every one of these. */
  readonly tags?: readonly string[] | undefined;
  readonly key?: { readonly name: string; readonly value: string } | undefined;
  /** Name of the failure. */
  readonly failure?: string | undefined;
  readonly externalId?: string | undefined;
  /** Id of the parent job. */
  readonly parent?: string | undefined;
  /** The id begins with it. */
  readonly idPrefix?: string | undefined;
  /** The name or the sentence of the failure has it in it, in upper or lower case. */
  readonly text?: string | undefined;
  /** Begun then or later. */
  readonly from?: number | undefined;
  /** Begun before. */
  readonly to?: number | undefined;
};

/**
 * The jobs that were found, newest first. `cursor` leads to the next page; a page may be short, or
 * empty, and have one, when few of very many jobs match.
 */
export type FoundJobs = { readonly jobs: readonly StoredDocument[]; readonly cursor?: string };

export type PageOptions = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Epoch ms. */
  readonly now: number;
};

/** Rows of the index that are looked at for one page at most. */
const mostRows = 10_000;
/** The same where only documents tell what matches. */
const mostRead = 2_000;
/** Rows whose documents are read together. */
const together = 200;

/** Jobs by what they are, newest first, page by page. @throws TwsError `cursor_invalid` */
export async function searchJobs(
  store: Store,
  search: JobSearch,
  { limit, cursor, now }: PageOptions,
): Promise<FoundJobs> {
  const { connection } = store;
  const after = cursor === undefined ? undefined : positionIn(connection, cursor);
  const found: { readonly doc: StoredDocument; readonly at: RowPosition }[] = [];
  let candidates: SearchRow[] = [];
  let looked = 0;
  let last: RowPosition | undefined;
  const isRead = search.text !== undefined || search.version !== undefined;
  const most = isRead ? mostRead : mostRows;
  const examine = async (): Promise<void> => {
    const docs = await store.getMany(candidates.map(({ id }) => id));
    for (const { id, when } of candidates) {
      const doc = docs.get(id);
      if (doc !== undefined && docMatches(doc, search, now)) found.push({ doc, at: { when, id } });
    }
    candidates = [];
  };
  for await (const row of rowsOf(store, search, { after, page: limit + 1 })) {
    looked += 1;
    last = { when: row.when, id: row.id };
    if (rowMatches(row, search, now)) candidates.push(row);
    const enough = Math.min(together, limit + 1 - found.length);
    if (candidates.length >= enough) await examine();
    if (found.length > limit || looked >= most) break;
  }
  await examine();
  const jobs = found.slice(0, limit).map(({ doc }) => doc);
  const goOn = found.length > limit ? found[limit - 1]?.at : looked >= most ? last : undefined;
  return goOn === undefined ? { jobs } : { jobs, cursor: cursorOf(connection, goOn) };
}

type Prefix = readonly string[];
type RowsOptions = { readonly after: RowPosition | undefined; readonly page: number };

/** The rows of the index that hold every job that is searched for. */
function rowsOf(store: Store, search: JobSearch, options: RowsOptions) {
  const { from, to } = search;
  const exact = exactRanges(search);
  const prefixes = exact.length > 0 ? exact : rangesOf(search);
  const ranges = prefixes.map((prefix) => ({ prefix, from, to }));
  // Of jobs that have only some of several things few are read.
  return exact.length > 1 ? rowsInAll(store, ranges, options) : rowsInOrder(store, ranges, options);
}

/** The parts for what rows do not tell: a job has to be in each of them. */
function exactRanges({ tags = [], key, externalId, parent }: JobSearch): readonly Prefix[] {
  return [
    ...(externalId === undefined ? [] : [['external_id', externalId]]),
    ...(parent === undefined ? [] : [['parent', parent]]),
    ...(key === undefined ? [] : [['key', key.name, key.value]]),
    ...[...new Set(tags)].slice(0, mostTags).map((tag) => ['tag', tag]),
  ];
}

/** So many tags are looked up in the index; the documents tell the others. */
const mostTags = 5;

/** The parts that hold them together, the smaller ones preferred: rows tell the rest. */
function rangesOf({ flow, owners, status, failure, text }: JobSearch): readonly Prefix[] {
  if (failure !== undefined) return [['failure', failure]];
  // Only failed jobs have a failure.
  if (text !== undefined)
    return [
      ['status', 'failed'],
      ['status', 'cancelled'],
    ];
  // Most jobs have succeeded; of any other status there are few.
  const isRare = status !== undefined && !status.includes('succeeded');
  if (isRare) return storedAs(status).map((one) => ['status', one]);
  if (flow !== undefined) return [['flow', flow]];
  if (owners !== undefined) return [...new Set(owners)].map((owner) => ['owner', owner]);
  if (status !== undefined) return storedAs(status).map((one) => ['status', one]);
  return [['all']];
}

/** The index has the status of the last change; by now what was due then may have come. */
function storedAs(status: readonly Status[]): readonly Status[] {
  const more = status.flatMap((one): readonly Status[] => {
    if (one === 'queued') return ['scheduled'];
    return one === 'running' ? ['waiting'] : [];
  });
  return [...new Set([...status, ...more])];
}

/** Whether the row of a job may be one that is wanted; its document decides. */
function rowMatches({ id, facts }: SearchRow, search: JobSearch, now: number): boolean {
  const [flow, owner, status, failure, due]: JobRow = facts;
  if (search.idPrefix !== undefined && !id.startsWith(search.idPrefix)) return false;
  if (search.flow !== undefined && search.flow !== flow) return false;
  if (search.owners !== undefined && !search.owners.includes(owner)) return false;
  if (search.failure !== undefined && search.failure !== failure) return false;
  if (search.status === undefined) return true;
  const isPast = due !== null && due <= now;
  return isPast ? storedAs(search.status).includes(status) : search.status.includes(status);
}

function docMatches(doc: StoredDocument, search: JobSearch, now: number): boolean {
  const { owners, status, tags = [], key, externalId, parent, text, version } = search;
  if (doc['type'] !== 'job' || !hasText(doc['failure'], text)) return false;
  if (owners !== undefined && !owners.includes(ownerOf(doc))) return false;
  if (version !== undefined && asVersion(doc['flow_version']) !== version) return false;
  if (status !== undefined && !status.includes(statusOf(doc, now))) return false;
  const { tags: own, keys } = doc;
  if (!tags.every((tag) => Array.isArray(own) && own.includes(tag))) return false;
  if (key !== undefined && !hasKey(keys, key)) return false;
  if (externalId !== undefined && doc['external_id'] !== externalId) return false;
  return hasParent(doc, parent);
}

function hasParent({ parent: own }: StoredDocument, parent: string | undefined): boolean {
  return parent === undefined || (isObject(own) && own['job'] === parent);
}

function hasText(failure: unknown, text: string | undefined): boolean {
  if (text === undefined) return true;
  if (!isObject(failure)) return false;
  const said = `${textOf(failure['name'])}: ${textOf(failure['message'])}`;
  return said.toLowerCase().includes(text.toLowerCase());
}

function hasKey(keys: unknown, { name, value }: NonNullable<JobSearch['key']>): boolean {
  return isObject(keys) && Object.hasOwn(keys, name) && textOf(keys[name]) === value;
}
