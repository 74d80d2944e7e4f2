import { setTimeout as sleep } from 'node:timers/promises';
import { createPulse, type Client, type Reason } from '../client.js';
import { TwsError } from '../errors.js';

/** The longest time between two looks at why a job does not move, ms. */
const longestQuietMs = 30_000;

export type ReasonsOptions = {
  readonly id: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** After so long without a change the reason is told, ms; each look after that comes later. */
  readonly quietMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** Whether the database answers no more at the moment. */
  readonly isAway: () => boolean;
  /** Called with why the job does not move, each time that this is another reason. */
  readonly tell: (reasons: readonly Reason[]) => void;
};

export type Reasons = {
  /** Something has changed: the quiet begins anew. */
  readonly moved: () => void;
  readonly ended: Promise<void>;
};

/** Looks now and then why a job does not move, as long as it does not. */
export function watchReasons(client: Client, options: ReasonsOptions): Reasons {
  const { id, quietMs = 3_000, leaseMs, signal } = options;
  const pulse = createPulse(leaseMs);
  let changed = new AbortController();
  let shown = '';
  const look = async (): Promise<void> => {
    if (options.isAway()) return;
    try {
      const { reasons } = await client.explain(id, pulse);
      // Which engine runs a step, and since when, is the same reason a moment later.
      const key = reasons.map(({ kind }) => kind).join();
      if (key === shown || signal.aborted) return;
      shown = key;
      options.tell(reasons);
    } catch (error) {
      // The watch tells of a database that is away, and of a job that is gone.
      if (!(error instanceof TwsError)) throw error;
    }
  };
  const run = async (): Promise<void> => {
    let waitMs = quietMs;
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, changed.signal]);
      const slept = await sleep(waitMs, true, { signal: either }).catch(() => false);
      if (changed.signal.aborted) changed = new AbortController();
      waitMs = slept ? Math.min(longestQuietMs, waitMs * 2) : quietMs;
      if (slept) await look();
    }
  };
  const ended = run();
  // It is awaited when the watch is over; until then a rejection is nobody's.
  ended.catch(() => undefined);
  return {
    ended,
    moved: () => {
      shown = '';
      changed.abort();
    },
  };
}

/** Whether the job goes on by itself, or has ended; anything else is for somebody to do something about. */
export function isWanted({ kind }: Reason): boolean {
  const wanted = ['running', 'scheduled', 'retry', 'child', 'waiting', 'soon', 'ended', 'problem'];
  return wanted.includes(kind);
}

/** A reason and what to do about it. */
export function reasonText({ because, todo }: Reason): string {
  return todo === undefined ? because : `${because} ${todo}`;
}
