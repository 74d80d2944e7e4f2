import {
  retentionRules,
  toldRules,
  type RetainProblem,
  type ToldRule,
} from '../decide/retention/rules.js';
import { scansFor } from '../decide/retention/scans.js';
import type { StoredDocument } from '../model/document.js';
import { currentOnly } from '../model/flow-versions.js';
import type { EndedStatus, Retain } from '../model/retain.js';
import { keyOf, ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import { listDefinitions } from './lists.js';
import { countExpired } from './retain-events.js';
import { hasRemovals, noteRemoval } from './retain-purge.js';
import { candidatesOf, type RetainCandidate } from './retain-candidates.js';
import {
  revisionName,
  openPassArchives,
  type Archived,
  type ArchiveFailure,
  type FamilyToGo,
  type PassArchiveOptions,
  type PassArchives,
} from './retain-archive.js';
import {
  familiesOf,
  readBeside,
  removeFamily,
  type BesideJobs,
  type JobFamily,
  type KeptReason,
} from './retain-family.js';

export type RetainOptions = {
  /** The default, for jobs whose flow says nothing. */
  readonly usual?: Retain | undefined;
  /** Removes nothing; the result says what would be removed. */
  readonly dryRun?: boolean;
  /** Epoch ms; default: now. */
  readonly now?: number;
  /** Called now and then; `removed` and `kept` count jobs without those that were made for them. */
  readonly onProgress?: ((progress: RetainProgress) => void) | undefined;
  /** Breaks it off after the jobs under way; what is left is found by the next pass. */
  readonly signal?: AbortSignal | undefined;
  /** The folder of the project, from which archives are looked for; default: the current one. */
  readonly root?: string | undefined;
  /** Opens an archive; default: as it is written. */
  readonly openArchive?: PassArchiveOptions['open'];
  /** Waited for now and then; false breaks it off. */
  readonly mayGoOn?: (() => Promise<boolean>) | undefined;
  /** Writes down what is removed, so that its tombstones can be purged. */
  readonly isNoted?: boolean;
};

export type RetainProgress = {
  readonly looked: number;
  readonly removed: number;
  readonly kept: number;
};

/** Jobs of a flow and a status, without those that were made for them. */
export type RetainRow = {
  readonly flow: string;
  readonly owner: string;
  readonly status: EndedStatus;
  readonly removed: number;
  readonly kept: number;
};

/** A job that stays although its rule says that it goes: because of itself or of `job`. */
export type KeptJob = {
  readonly id: string;
  readonly because: KeptReason;
  readonly job: string;
};

export type RetainResult = {
  /** Whether anything says which jobs go. */
  readonly configured: boolean;
  readonly rows: readonly RetainRow[];
  /** All documents that were removed: also child jobs, notifications, locks, requests and signals. */
  readonly documents: number;
  /** The first 100 that stay. */
  readonly kept: readonly KeptJob[];
  /** What flows say that cannot be followed: none of their jobs is removed. */
  readonly problems: readonly RetainProblem[];
  /** Jobs that were archived, without those that were made for them. */
  readonly archived: number;
  /** Archives that take no jobs: those that belong there stay. */
  readonly failures: readonly ArchiveFailure[];
  /** It was broken off. */
  readonly broken: boolean;
};

/** What the rules come to before any job is looked at. */
export type RetentionState = Pick<RetainResult, 'configured' | 'problems'> & {
  readonly rules: readonly ToldRule[];
  /** Whether tombstones of earlier passes are still to be purged, also where no rule is left. */
  readonly toPurge: boolean;
  /** Events whose life has ended, 10,000 at most; they are removed, whatever the rules. */
  readonly expired: number;
};

/** The rules of all flows as they are stored now. */
export async function rulesOf(
  store: Store,
  usual?: Retain,
): Promise<ReturnType<typeof retentionRules>> {
  const all = await listDefinitions(store, 'flow');
  // The current version says it for the jobs of all.
  const flows = currentOnly(all, (doc) => keyOf(String(doc['name']), ownerOf(doc)));
  return retentionRules(flows, usual, store.connection.database);
}

/** Whether the flows, or the default, say which jobs go, and what cannot be followed. Reads no jobs. */
export async function readRetention(store: Store, usual?: Retain): Promise<RetentionState> {
  const { rules, problems } = await rulesOf(store, usual);
  const configured = scansFor(rules, Date.now()).length > 0;
  const toPurge = await hasRemovals(store);
  const expired = await countExpired(store, Date.now());
  return { configured, problems, rules: toldRules(rules), toPurge, expired };
}

/**
 * Removes the jobs that have ended and that the `retain` of their flow, or the default, does not keep, each
 * with its child jobs, notifications, locks, requests and signals. A job of whose family one has not ended
 * stays. May be broken off anywhere and repeated: a job goes after all that belongs to it.
 * @throws TwsError those of a removal but `document_conflict`
 */
export async function retainJobs(store: Store, options: RetainOptions = {}): Promise<RetainResult> {
  const { usual, dryRun = false, now = Date.now(), onProgress, isNoted = false } = options;
  const { rules, problems } = await rulesOf(store, usual);
  const configured = scansFor(rules, now).length > 0;
  const tally = createTally();
  const { root = process.cwd(), openArchive: open } = options;
  const archives = openPassArchives(store, {
    ...{ rules, root, now },
    ...(open === undefined ? {} : { open }),
  });
  const result = (broken: boolean): RetainResult => ({
    ...{ configured, problems, broken },
    ...{ archived: archives.count(), failures: archives.failures() },
    ...tally.end(),
  });
  if (!configured) return result(false);
  const beside = await readBeside(store);
  const goesOn = askedNowAndThen(options, tally);
  try {
    for await (const some of candidatesOf(store, { rules, now, goesOn })) {
      if (!(await goesOn(true))) break;
      await removeSome(store, some, { beside, dryRun, tally, archives, now, isNoted });
      onProgress?.(tally.progress());
    }
  } finally {
    await archives.close();
  }
  return result(!(await goesOn(true)));
}

type Tally = ReturnType<typeof createTally>;

function createTally() {
  const rows = new Map<string, RetainRow>();
  const kept: KeptJob[] = [];
  const sums = { looked: 0, removed: 0, kept: 0 };
  let documents = 0;
  const add = ({ job }: RetainCandidate, what: 'removed' | 'kept'): void => {
    const { flow, owner, status } = job;
    const key = JSON.stringify([flow, owner, status]);
    const row = rows.get(key) ?? { flow, owner, status, removed: 0, kept: 0 };
    rows.set(key, { ...row, [what]: row[what] + 1 });
    sums[what] += 1;
  };
  return {
    looked: () => {
      sums.looked += 1;
      return sums.looked;
    },
    removed: (candidate: RetainCandidate, count: number) => {
      add(candidate, 'removed');
      documents += count;
    },
    kept: (candidate: RetainCandidate, because: KeptReason, job: string) => {
      add(candidate, 'kept');
      if (kept.length < mostKept) kept.push({ id: candidate.job.id, because, job });
    },
    progress: (): RetainProgress => ({ ...sums }),
    end: () => ({ rows: [...rows.values()].toSorted(byFlow), documents, kept }),
  };
}

const mostKept = 100;

function byFlow(a: RetainRow, b: RetainRow): number {
  const [one, other] = [a, b].map(({ flow, owner, status }) => `${flow}::${owner}:${status}`);
  return String(one) < String(other) ? -1 : 1;
}

/** So many rows are looked at between two signs of life. */
const rowsBetween = 1_000;

/** Tells how far it is, and asks whether to go on, also while nothing is found that goes. */
function askedNowAndThen({ signal, mayGoOn, onProgress }: RetainOptions, tally: Tally) {
  let isOver = false;
  const ask = async (): Promise<boolean> => {
    onProgress?.(tally.progress());
    isOver ||= (await mayGoOn?.()) === false;
    return !isOver && signal?.aborted !== true;
  };
  return (isDue = false): boolean | Promise<boolean> => {
    if (isOver || signal?.aborted === true) return false;
    if (isDue) return ask();
    return tally.looked() % rowsBetween > 0 || ask();
  };
}

type Removing = {
  readonly beside: BesideJobs;
  readonly dryRun: boolean;
  readonly tally: Tally;
  readonly archives: PassArchives;
  readonly now: number;
  readonly isNoted: boolean;
};

async function removeSome(
  store: Store,
  some: readonly RetainCandidate[],
  { beside, dryRun, tally, archives, now, isNoted }: Removing,
): Promise<void> {
  const families = await familiesOf(
    store,
    some.map(({ doc }) => doc),
    beside,
    now,
  );
  const toGo = families.flatMap((family, i): readonly FamilyToGo[] => {
    const candidate = some[i] as RetainCandidate;
    const { kept } = family;
    if (kept !== undefined) tally.kept(candidate, kept.because, kept.job);
    else if (dryRun) tally.removed(candidate, sizeOf(family));
    else return [{ candidate, family }];
    return [];
  });
  for await (const batch of archives.archived(toGo)) {
    const gone = new Map<string, string>();
    const removing = batch.map((one) => removeOne(store, one, { tally, gone }));
    const ended = await Promise.allSettled(removing);
    if (isNoted) await noteRemoval(store, gone, now);
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }
}

async function removeOne(
  store: Store,
  { candidate, family, revs, kept }: Archived,
  { tally, gone }: { readonly tally: Tally; readonly gone: Map<string, string> },
): Promise<void> {
  const { id } = candidate.job;
  if (kept !== undefined) return tally.kept(candidate, kept, id);
  const mayGo = (doc: StoredDocument): boolean => revs?.has(revisionName(doc)) !== false;
  const removed = await removeFamily(store, family, { mayGo, gone });
  if (removed === 'conflict') tally.kept(candidate, 'conflict', id);
  else tally.removed(candidate, removed);
}

function sizeOf({ levels, beside }: JobFamily): number {
  return levels.flat().length + beside.length;
}
