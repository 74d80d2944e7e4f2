import { expiredJobs, isTooOld, type EndedJob } from '../decide/retention/expired.js';
import { limitFor, type JobKind, type RetentionRules } from '../decide/retention/rules.js';
import { scansFor, type Scan } from '../decide/retention/scans.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import { notifiesOf } from '../model/notify.js';
import { isObject } from '../model/object.js';
import { ownerOf } from '../model/task.js';
import { statusOf } from '../reading/status.js';
import type { Store } from '../store/store.js';
import { rowsInOrder, type SearchRow } from './search-rows.js';

/** A job that goes by its rule, as it is stored now. */
export type RetainCandidate = { readonly job: EndedJob; readonly doc: StoredDocument };

export type CandidateOptions = {
  readonly rules: RetentionRules;
  /** Epoch ms. */
  readonly now: number;
  /** Asked with each row, and before documents are read, whether to go on. */
  readonly goesOn: () => boolean | Promise<boolean>;
};

/** Jobs whose documents are read, and removed, together. */
const together = 100;
const manyRows = 1_000;

/**
 * The jobs that go, some at a time. The index says which ones may have to; only their documents are read. Of
 * a limit with `count` all jobs of the kind are read as soon as there are more: the index does not have
 * their ends.
 */
export async function* candidatesOf(
  store: Store,
  options: CandidateOptions,
): AsyncGenerator<readonly RetainCandidate[], void, undefined> {
  for (const scan of scansFor(options.rules, options.now))
    yield* candidatesIn(store, scan, options);
}

type Group = {
  readonly count: number;
  readonly ids: string[];
  /** Those that began before the age of the limit: they may be older. */
  readonly old: string[];
};

async function* candidatesIn(
  store: Store,
  scan: Scan,
  options: CandidateOptions,
): AsyncGenerator<readonly RetainCandidate[], void, undefined> {
  const { rules, now, goesOn } = options;
  const groups = new Map<string, Group>();
  const old: string[] = [];
  for await (const row of rowsOf(store, scan)) {
    if (!(await goesOn())) return;
    const kind = kindOf(row, scan);
    const limit = kind && limitFor(rules, kind);
    if (kind === undefined || limit === undefined) continue;
    const isOld = isTooOld({ end: row.when }, limit.age, now);
    if (limit.count === undefined) {
      if (isOld) old.push(row.id);
      if (old.length === together) yield await oldOnes(store, old.splice(0), options);
      continue;
    }
    const key = JSON.stringify([kind.flow, kind.owner, kind.status]);
    const group = groups.get(key) ?? { count: limit.count, ids: [], old: [] };
    groups.set(key, group);
    group.ids.push(row.id);
    if (isOld) group.old.push(row.id);
  }
  yield await oldOnes(store, old, options);
  for (const { ids, count, old: aged } of groups.values()) {
    const looked = ids.length > count ? ids : aged;
    yield* expiredOf(store, looked, options);
  }
}

function rowsOf(store: Store, { flow, statuses, to }: Scan) {
  const prefixes = flow === undefined ? statuses.map((one) => ['status', one]) : [['flow', flow]];
  const ranges = prefixes.map((prefix) => ({ prefix, to }));
  return rowsInOrder(store, ranges, { after: undefined, page: manyRows });
}

/** What a row says of its job; undefined: it is not one of the scan. */
function kindOf({ facts }: SearchRow, { statuses, except }: Scan): JobKind | undefined {
  const [flow, owner, now] = facts;
  const status = statuses.find((one) => one === now);
  return status === undefined || except.has(flow) ? undefined : { flow, owner, status };
}

async function oldOnes(
  store: Store,
  ids: readonly string[],
  { rules, now }: CandidateOptions,
): Promise<readonly RetainCandidate[]> {
  const found = await readEnded(store, ids);
  const jobs = found.map(({ job }) => job);
  const expired = new Set(expiredJobs(jobs, rules, now).map(({ job }) => job));
  return found.filter(({ job }) => expired.has(job));
}

/** Of many jobs that are compared with each other only the facts are kept, and the others read again. */
async function* expiredOf(
  store: Store,
  ids: readonly string[],
  { rules, now, goesOn }: CandidateOptions,
): AsyncGenerator<readonly RetainCandidate[], void, undefined> {
  const jobs: EndedJob[] = [];
  for (const some of partsOf(ids)) {
    if (!(await goesOn())) return;
    jobs.push(...(await readEnded(store, some)).map(({ job }) => job));
  }
  const expired = expiredJobs(jobs, rules, now).map(({ job }) => job);
  for (const some of partsOf(expired)) {
    const again = await readEnded(
      store,
      some.map(({ id }) => id),
    );
    const before = new Map(some.map((job): [string, EndedJob] => [job.id, job]));
    yield again.filter(({ job }) => {
      const { end, status } = before.get(job.id) ?? job;
      return end === job.end && status === job.status;
    });
  }
}

function partsOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from({ length: Math.ceil(all.length / together) }, (_, i) => i * together);
  return starts.map((from) => all.slice(from, from + together));
}

/** Those of the jobs that have ended and go by themselves, not with the job that they were made for. */
async function readEnded(
  store: Store,
  ids: readonly string[],
): Promise<readonly RetainCandidate[]> {
  const docs = await store.getMany(ids);
  const found = ids.flatMap((id): readonly RetainCandidate[] => {
    const doc = docs.get(id);
    const job = doc && endedJob(doc);
    return doc === undefined || job === undefined ? [] : [{ job, doc }];
  });
  const makers = new Set(found.flatMap(({ doc }) => makerOf(doc) ?? []));
  const there = makers.size === 0 ? docs : await store.getMany([...makers]);
  return found.filter(({ doc }) => {
    const maker = makerOf(doc);
    return maker === undefined || !there.has(maker);
  });
}

/** The job that a child job was made for, or that a notification tells of. */
function makerOf(doc: StoredDocument): string | undefined {
  const { parent } = doc;
  const id = isObject(parent) ? parent['job'] : notifiesOf(doc)?.job;
  return typeof id === 'string' ? id : undefined;
}

/** A job that came back from an archive stays as if it had ended then. */
function lastSeen({ restored }: StoredDocument, end: number): number {
  const at = isObject(restored) ? restored['at'] : undefined;
  return typeof at === 'number' ? Math.max(end, at) : end;
}

function endedJob(doc: StoredDocument): EndedJob | undefined {
  const { _id: id, type, state, flow, end } = doc;
  if (type !== 'job' || !isFinalState(state) || typeof end !== 'number') return undefined;
  const status = statusOf(doc, end);
  if (status !== 'succeeded' && status !== 'failed' && status !== 'cancelled') return undefined;
  const stays = lastSeen(doc, end);
  return {
    id,
    end: stays,
    status,
    flow: typeof flow === 'string' ? flow : '',
    owner: ownerOf(doc),
  };
}
