import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PassResult } from '../client.js';
import { TwsError } from '../errors.js';
import type { Log } from '../log.js';
import type { Retain } from '../model/retain.js';
import { subjectsLeft, type PurgedSubjects, type SubjectRetention } from './overdue-subjects.js';
import { counted, lengthOf } from '../words.js';

/** Time from the begin of one pass to the next, ms. */
export const retentionEveryMs = 3_600_000;
/** After a pass that failed, ms. */
const afterFailureMs = 300_000;
/** Jobs that wait come before old ones when an engine starts, ms. */
const firstMs = 2_000;

export type RetentionParts = {
  readonly client: Client;
  readonly usual: Retain | undefined;
  /** Sensitive values; absent: there are none. */
  readonly subjects?: SubjectRetention;
  /** Throws where the clock of this process is not to be trusted; absent: it is. */
  readonly checkClock?: () => Promise<void>;
  /** The folder of the project, from which archives are looked for. */
  readonly root: string;
  readonly log: Log;
  /** The id of the engine of this process. */
  readonly by: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly everyMs?: number;
};

/**
 * Removes old jobs each hour, in turn with all other processes of the database: one pass is made by one of
 * them. Without any `retain` it stores nothing,
 * unless tombstones of earlier passes are still to be purged, events have expired, or the time of sensitive values is
 * over. What fails is logged and tried again.
 * Resolves when the signal has ended it.
 */
export async function keepRetention(parts: RetentionParts): Promise<void> {
  const { log, signal, everyMs = retentionEveryMs } = parts;
  const told = new Set<string>();
  let waitMs = Math.min(everyMs, firstMs);
  for (;;) {
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      waitMs = await passOnce({ ...parts, everyMs }, told);
    } catch (error) {
      waitMs = Math.min(everyMs, afterFailureMs);
      if (!signal.aborted) tellFailure(error, log);
    }
  }
}

/** A database that does not answer is told by the engine. */
function tellFailure(error: unknown, log: Log): void {
  if (error instanceof TwsError && error.code === 'couch_unreachable') return;
  const text = error instanceof TwsError ? error.message : `${String(error)}.`;
  log.warn({}, `Old jobs could not be removed: ${text} It is tried again.`);
}

/** Resolves with the time until there is something to do again, ms. */
async function passOnce(
  parts: RetentionParts & { readonly everyMs: number },
  told: Set<string>,
): Promise<number> {
  const { client, usual, subjects, root, log, by, signal, everyMs } = parts;
  const { configured, problems, toPurge, expired } = await client.readRetention(usual);
  for (const { flow, message } of problems) {
    const line = `No job of flow ${flow} is removed: ${message}`;
    if (!told.has(line)) log.warn({ flow }, line);
    told.add(line);
  }
  const due = (await subjects?.due()) ?? 0;
  const hasWork = configured || toPurge || expired > 0 || due > 0;
  if (!hasWork || signal.aborted || !(await isOnTime(parts, told))) return everyMs;
  const began = Date.now();
  const pass = await client.retention({ usual, root, by, everyMs, signal });
  if (pass.kind === 'done') {
    if (due > 0 && subjects !== undefined) tellPurged(await subjects.purge(by), log);
    tellPass(pass, Date.now() - began, log);
  }
  return Math.min(everyMs, Math.max(1_000, pass.next - Date.now()));
}

/** Whether the clock is to be trusted; that it is not is told once, and again when it was right meanwhile. */
async function isOnTime({ checkClock, log }: RetentionParts, told: Set<string>): Promise<boolean> {
  try {
    await checkClock?.();
    told.delete('clock_ahead');
    return true;
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'clock_ahead') throw error;
    if (!told.has(error.code)) log.warn({}, error.message);
    told.add(error.code);
    return false;
  }
}

function tellPurged(purged: PurgedSubjects, log: Log): void {
  const { destroyed, left } = purged;
  const text = `Destroyed the keys of ${counted(destroyed, 'subject')} whose sensitive values are past their time.`;
  if (destroyed > 0) log.info({ subjects: destroyed }, text);
  const why = subjectsLeft(purged);
  if (why !== undefined) log.warn({ subjects: left }, why);
}

type Done = Extract<PassResult, { readonly kind: 'done' }>;

function tellPass({ result, expired, purged, ...failed }: Done, ms: number, log: Log): void {
  const { rows, documents, broken, archived, failures } = result;
  for (const { archive, job, message } of failures) log.warn({ archive, job }, message);
  const sum = (what: 'removed' | 'kept'): number => rows.reduce((all, row) => all + row[what], 0);
  const about = {
    removed: sum('removed'),
    kept: sum('kept'),
    documents,
    archived,
    expired,
    purged,
    ms,
  };
  const events = expired === 0 ? '' : ` and ${counted(expired, 'expired document')}`;
  const what = `Removed ${counted(about.removed, 'old job')}${events} in ${lengthOf(ms)}`;
  const line = broken ? `${what}; the next pass goes on.` : `${what}.`;
  if (about.removed > 0 || expired > 0 || broken) log.info(about, line);
  else log.debug(about, line);
  if (failed.unpurged !== undefined) {
    log.warn({}, `Tombstones could not be purged: ${failed.unpurged}`);
  }
  if (failed.uncompacted !== undefined) {
    log.warn({}, `The database could not be compacted: ${failed.uncompacted}`);
  }
}
