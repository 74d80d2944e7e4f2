import { hostname } from 'node:os';
import { systemClock, type Clock } from '../../clock/clock.js';
import { problem, TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import type { Store } from '../../store/store.js';
import type { Retry } from '../retry.js';

export type NameOptions = {
  readonly store: Store;
  readonly retry: Retry;
  /** How often this engine renews its lease, ms. */
  readonly renewMs: number;
  /** Ends the watch: the engine is not to start any more. */
  readonly signal: AbortSignal;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
};

/** Beyond one renewal, ms: what a slow database may add. */
const marginMs = 500;

/**
 * Makes sure that no live engine has this document: one that a process of this machine left behind
 * is known to be dead at once, any other one is watched for longer than a renewal takes. The answer
 * is the document of the dead one, if there is any. Throws `engine_name_taken`.
 */
export async function takeOverName(
  id: string,
  { store, retry, renewMs, signal, clock = systemClock }: NameOptions,
): Promise<StoredDocument | undefined> {
  const first = await retry(() => store.get(id));
  if (first === undefined || isLeft(first)) return first;
  const theirs = Number(first['renew_ms']) || renewMs;
  const until = clock.steady() + 1.5 * Math.max(renewMs, theirs) + marginMs;
  while (clock.steady() < until && !signal.aborted) {
    await clock.sleep(Math.min(renewMs, 500), signal);
    const doc = await retry(() => store.get(id));
    if (doc === undefined || isLeft(doc)) return doc;
    if (doc['beat'] !== first['beat'] || doc['started'] !== first['started']) throw taken(id, doc);
  }
  return first;
}

/** The problem of two engines with one name. */
export function taken(id: string, { host, pid }: StoredDocument): TwsError {
  const name = id.replace(/^engine:/, '');
  return problem('engine_name_taken', { name, host: String(host), pid: String(pid) });
}

export function isNameTaken(error: unknown): error is TwsError {
  return error instanceof TwsError && error.code === 'engine_name_taken';
}

/** Its engine has ended in order, or its process, of this machine, is gone. */
export function isLeft({ state, host, pid, started }: StoredDocument): boolean {
  if (state === 'stopped') return true;
  if (host !== hostname() || typeof pid !== 'number') return false;
  // In a container each life may have the same number.
  if (pid === process.pid) return Number(started) < Date.now() - process.uptime() * 1_000;
  return !isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
