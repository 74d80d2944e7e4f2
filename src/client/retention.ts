import { hostname } from 'node:os';
import type { EndedStatus } from '../model/retain.js';
import {
  retentionId,
  retentionSchema,
  type LastPass,
  type RetentionDocument,
} from '../model/retention.js';
import { isWorthCompacting } from '../decide/retention/compaction.js';
import type { Store } from '../store/store.js';
import { removeExpired } from './retain-events.js';
import { purgeRemoved, type PurgeOptions } from './retain-purge.js';
import { retainJobs, type RetainOptions, type RetainResult } from './retain.js';

/*
 * Who removes old jobs.
 *
 * U9 A pass has the claim: the document `retention` with `running`, stored by compare-and-set. It renews it,
 *    and breaks off when it has lost it.
 * U10 A claim that was not renewed in time is over: its process has died, and another pass may begin. On the
 *    machine of that process it is over at once.
 * U11 Two passes at once remove nothing wrong, since each removal names the revision that was looked at: where
 *    a database keeps several copies, or clocks differ by minutes, there may be two.
 */

/** How long a claim holds without being renewed, ms. */
const claimMs = 300_000;
const renewMs = 30_000;

export type PassOptions = RetainOptions & {
  /** Whose pass it is: the id of an engine, or a command and its process. */
  readonly by: string;
  /** Time between the begin of one pass by itself and the next, ms. */
  readonly everyMs: number;
  /** The age at which tombstones are purged, ms; default: a day. */
  readonly purgeAfterMs?: number | undefined;
  /** The pass begins also when none is due; not while another one runs. */
  readonly atOnce?: boolean;
};

/** `busy`: another pass runs; `early`: none is due before `next` (epoch ms). */
export type PassResult =
  | {
      readonly kind: 'done';
      readonly result: RetainResult;
      readonly next: number;
      /** Events that were removed because their life had ended. */
      readonly expired: number;
      /** Tombstones that were purged. */
      readonly purged: number;
      /** Why not all of them could be purged. */
      readonly unpurged?: string;
      /** Why the database could not be compacted after it. */
      readonly uncompacted?: string;
    }
  | {
      readonly kind: 'busy';
      readonly by: string;
      readonly since: number;
      /** When its claim ends, unless it is renewed (epoch ms). */
      readonly next: number;
    }
  | { readonly kind: 'early'; readonly next: number };

/**
 * Removes old jobs once, where no other process does (U9). A pass that is told to end, or that loses the claim,
 * breaks off; the next pass finds what is left.
 * @throws TwsError as `retainJobs`
 */
export async function runRetention(store: Store, options: PassOptions): Promise<PassResult> {
  const { by, mayGoOn, now: began = Date.now() } = options;
  const claimed = await claim(store, options, began);
  if (claimed.kind !== 'claimed') return claimed;
  let doc: Stored | undefined = claimed.doc;
  const from = performance.now();
  let renewed = Date.now();
  const isOurs = async (): Promise<boolean> => {
    if (doc !== undefined && Date.now() - renewed >= renewMs) {
      renewed = Date.now();
      doc = await write(store, { ...doc, running: runningBy(by, began, renewed) });
    }
    return doc !== undefined && (await mayGoOn?.()) !== false;
  };
  let last: LastPass | undefined;
  try {
    const { mayPurge: isNoted, ...refused } = await purges(store);
    const result = await retainJobs(store, { ...options, now: began, mayGoOn: isOurs, isNoted });
    const { purgeAfterMs: delayMs, signal } = options;
    const mayGoOn = async (): Promise<boolean> => signal?.aborted !== true && (await isOurs());
    const expired = await removeExpired(store, { now: began, mayGoOn, isNoted });
    const purging = { now: began, mayGoOn, ...(delayMs === undefined ? {} : { delayMs }) };
    const { purged, unpurged } = isNoted
      ? await purgeAfter(store, purging)
      : { purged: 0, ...refused };
    const { uncompacted, compacted } = await compactAfter(
      store,
      result.documents + expired + purged,
    );
    const ms = Math.round(performance.now() - from);
    last = {
      at: began,
      ms,
      by,
      ...countsOf(result),
      purged,
      ...(compacted !== undefined && { compacted }),
    };
    return {
      ...{ kind: 'done', result, next: claimed.doc.next, expired, purged },
      ...(unpurged !== undefined && { unpurged }),
      ...(uncompacted !== undefined && { uncompacted }),
    };
  } finally {
    if (doc !== undefined) await release(store, doc, last);
  }
}

type Stored = RetentionDocument & { readonly _rev: string };

type Claimed =
  | { readonly kind: 'claimed'; readonly doc: Stored }
  | Exclude<PassResult, { readonly kind: 'done' }>;

async function claim(
  store: Store,
  { by, everyMs, atOnce = false }: PassOptions,
  now: number,
): Promise<Claimed> {
  const found = await store.get(retentionId);
  const read = retentionSchema.safeParse(found);
  const before = read.success ? read.data : undefined;
  const { running, next = 0 } = before ?? {};
  if (running !== undefined && running.until > now && !isGoneHere(running)) {
    const { by: other, since } = running;
    return { kind: 'busy', by: other, since, next: running.until };
  }
  if (next > now && !atOnce) return { kind: 'early', next };
  const due = now + everyMs;
  const doc = await write(store, {
    ...{ _id: retentionId, type: 'retention', next: due },
    ...(found === undefined ? {} : { _rev: found._rev }),
    ...(before?.last === undefined ? {} : { last: before.last }),
    running: runningBy(by, now, now),
  });
  return doc === undefined
    ? { kind: 'busy', by: 'another process', since: now, next: due }
    : { kind: 'claimed', doc };
}

type Running = NonNullable<RetentionDocument['running']>;

function runningBy(by: string, since: number, now: number): Running {
  return { by, since, until: now + claimMs, host: hostname(), pid: process.pid };
}

/** Whether the process of a claim ran on this machine and is there no more. */
function isGoneHere({ host, pid }: Running): boolean {
  if (host !== hostname() || pid === undefined || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Resolves with what is stored; undefined when somebody else was faster, or nobody knows. */
async function write(
  store: Store,
  doc: RetentionDocument & { readonly _rev?: string },
): Promise<Stored | undefined> {
  const result = await store.write(doc);
  return result.kind === 'written' ? { ...doc, _rev: result.rev } : undefined;
}

/** Where a database keeps several copies, a copy may learn of a purge after the document was made again (U41). */
async function purges(store: Store): Promise<{ readonly mayPurge: boolean; unpurged?: string }> {
  try {
    const { copies } = await store.info();
    return { mayPurge: copies === 1 && (await store.mayPurge()) };
  } catch (error) {
    // Tombstones may stay; jobs that are to go need not.
    return { mayPurge: false, unpurged: messageOf(error) };
  }
}

type Purged = { readonly purged: number; readonly unpurged?: string };

async function purgeAfter(store: Store, options: PurgeOptions): Promise<Purged> {
  try {
    return { purged: await purgeRemoved(store, options) };
  } catch (error) {
    return { purged: 0, unpurged: messageOf(error) };
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** A removal leaves its space to the next compaction, which CouchDB may put off for long. */
async function compactAfter(
  store: Store,
  documents: number,
): Promise<Pick<LastPass, 'compacted'> & { readonly uncompacted?: string }> {
  if (documents === 0) return {};
  try {
    const { documents: left } = await store.info();
    return isWorthCompacting(documents, left) ? { compacted: await store.compact() } : {};
  } catch (error) {
    // What was removed is removed.
    return { compacted: false, uncompacted: messageOf(error) };
  }
}

/** A pass that failed leaves what the one before it did. */
async function release(store: Store, doc: Stored, last: LastPass | undefined): Promise<void> {
  const { running: _running, ...free } = doc;
  await write(store, { ...free, ...(last === undefined ? {} : { last }) });
}

function countsOf({ rows, archived, failures }: RetainResult): Omit<LastPass, 'at' | 'ms' | 'by'> {
  const removed: Record<EndedStatus, number> = { succeeded: 0, failed: 0, cancelled: 0 };
  let kept = 0;
  for (const row of rows) {
    removed[row.status] += row.removed;
    kept += row.kept;
  }
  const told = failures.map(({ message }) => message);
  return { removed, kept, archived, ...(told.length === 0 ? {} : { failures: told }) };
}
