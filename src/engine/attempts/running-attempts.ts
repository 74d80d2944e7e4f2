import type { LRUCache } from 'lru-cache';
import { createLru } from '../../memo.js';
import type { SlotPool } from './slot-pool.js';
import { partyOf, type Party } from '../../reading/entries.js';
import { withTaken, type SlotUse } from '../../decide/compete/fair-share.js';
import type { TaskSlots } from '../../decide/intent.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import type { Report } from '../../decide/finish/report.js';
import { limitOf } from '../../decide/compete/serving.js';
import type { LiveJob } from '../../model/job.js';
import type { LiveStep } from '../../model/step.js';
import {
  beginAttempt,
  type BeginningOptions,
  type RunningAttempt,
  type StopReason,
} from './run-attempt.js';

/**
 * The attempts that this process runs or is about to run. A claim takes its slot when it is decided,
 * before it is written, and keeps it until its outcome is written.
 */
export type RunningAttempts = {
  readonly claims: ReadonlySet<string>;
  /** Those of them that were told to stop because nobody needs them any more. */
  readonly stopping: ReadonlySet<string>;
  /** Free slots; those of `ended`, claims whose outcomes are about to be written, count as free. */
  readonly freeSlots: (ended?: readonly string[]) => number;
  /** How many attempts of a task (by its key) count as running; those of `ended` do not count. */
  readonly runningOf: (task: string, ended?: readonly string[]) => number;
  /** Who has the slots; those of `ended` do not count. */
  readonly use: (ended?: readonly string[]) => SlotUse;
  /** Whether a task may run once more. */
  readonly hasRoom: (task: TaskSlots) => boolean;
  /**
   * Takes a slot for each of these steps of a job, one of its task as well; `ended` hand theirs over to
   * the first of them. False: there are not enough, none was taken.
   */
  readonly reserve: (steps: readonly LiveStep[], ended: readonly string[], job: LiveJob) => boolean;
  /** Undoes `reserve`: the claims were not stored. */
  readonly withdraw: (steps: readonly LiveStep[], ended?: readonly string[]) => void;
  readonly release: (claim: string) => void;
  /**
   * Starts a reserved attempt; its claim was confirmed. After `stopAll` it only settles it. Never throws:
   * an attempt that cannot be started has failed.
   */
  readonly start: (job: LiveJob, step: LiveStep) => void;
  readonly stop: (claim: string, reason: StopReason) => void;
  /** Stops all attempts, also those whose claims are confirmed later. */
  readonly stopAll: (reason: 'released' | 'fenced') => void;
  /** The claims of the attempts that run here, by job; jobs without any are left out. */
  readonly ofJob: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether there are free slots at all for now; what runs goes on. */
  readonly enable: (enabled: boolean) => void;
  /** From now on there are no free slots. */
  readonly close: () => void;
  /** Resolves when no attempt is left. */
  readonly empty: () => Promise<void>;
};

export type RunningAttemptsOptions = BeginningOptions & {
  /** The slots, which engines of the same process may share. */
  readonly slots: number | SlotPool;
  /** Whether jobs wait for a slot. */
  readonly waits?: () => boolean;
  /** The count by which slots are given, see `createWaitQueue`. */
  readonly count: () => number;
  /** A slot came free. */
  readonly onFree: () => void;
  /**
   * Called once with the outcome and the last report of each started attempt; its slot is taken until
   * this resolves.
   */
  readonly onEnded: (
    job: string,
    step: LiveStep,
    outcome: Outcome,
    report: Report,
  ) => Promise<void>;
};

export function createRunningAttempts(options: RunningAttemptsOptions): RunningAttempts {
  const { meters, onEnded } = options;
  const slots = createSlots(options);
  const stopping = new Set<string>();
  const { attempts, ofJob, add, remove } = createRegister();
  const emptied: (() => void)[] = [];
  /** Why all were told to stop: what is confirmed later is not begun. */
  let stoppedAll: 'released' | 'fenced' | undefined;

  const release = (claim: string): void => {
    if (attempts.has(claim)) remove(claim);
    stopping.delete(claim);
    if (!slots.claims.has(claim)) return;
    slots.free(claim);
    if (slots.claims.size === 0) for (const resolve of emptied.splice(0)) resolve();
    slots.freed();
  };
  const notBegun = (reason: 'released' | 'fenced', job: string, step: LiveStep): void => {
    if (reason === 'fenced') return release(step.claim);
    void onEnded(job, step, { kind: 'released' }, {}).finally(() => release(step.claim));
  };
  const start: RunningAttempts['start'] = (job, step) => {
    meters?.claim?.('won');
    if (stoppedAll !== undefined) return notBegun(stoppedAll, job._id, step);
    slots.began(step.claim);
    const { attempt, meter } = beginAttempt(options, job, step);
    add(job._id, attempt);
    if (stopping.has(step.claim)) attempt.stop('cancelled');
    void attempt.outcome
      .then((outcome) => {
        meter?.end(outcome.kind, 'failure' in outcome ? outcome.failure.message : undefined);
        return onEnded(job._id, step, outcome, attempt.report());
      })
      .finally(() => {
        if (attempts.has(step.claim)) release(step.claim);
      });
  };
  return {
    ...{ ...slots, ofJob, stopping, release, start },
    withdraw: (steps, ended) => {
      // First, so that nobody takes the slots in between.
      slots.keep(ended);
      for (const step of steps) {
        meters?.claim?.('lost');
        release(step.claim);
      }
    },
    stop: (claim, reason) => {
      if (reason === 'cancelled' && slots.claims.has(claim)) stopping.add(claim);
      attempts.get(claim)?.stop(reason);
    },
    stopAll: (reason) => {
      stoppedAll = reason;
      for (const attempt of attempts.values()) attempt.stop(reason);
    },
    enable: (enabled) => {
      slots.enable(enabled);
      if (enabled) slots.freed();
    },
    empty: () =>
      slots.claims.size === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve)),
  };
}

/** The attempts that have begun, by claim, and their claims by job. */
function createRegister() {
  const attempts = new Map<string, RunningAttempt>();
  const jobOf = new Map<string, string>();
  const ofJob = new Map<string, Set<string>>();
  return {
    attempts: attempts as ReadonlyMap<string, RunningAttempt>,
    ofJob: ofJob as RunningAttempts['ofJob'],
    add: (job: string, attempt: RunningAttempt): void => {
      const { claim } = attempt;
      attempts.set(claim, attempt);
      jobOf.set(claim, job);
      ofJob.set(job, (ofJob.get(job) ?? new Set<string>()).add(claim));
    },
    remove: (claim: string): void => {
      const job = jobOf.get(claim) ?? '';
      const others = ofJob.get(job);
      others?.delete(claim);
      if (others?.size === 0) ofJob.delete(job);
      jobOf.delete(claim);
      attempts.delete(claim);
    },
  };
}

type SlotOptions = Pick<RunningAttemptsOptions, 'slots' | 'count' | 'waits' | 'onFree'>;

/** The slots of an engine, and the claims that have them. */
function createSlots({ slots, count, waits = () => false, onFree }: SlotOptions) {
  const claims = new Set<string>();
  /** Claims that have no slot any more: the next step of their job has it. */
  const handedOver = new Set<string>();
  /** The tasks of the claims, by key, where only so many attempts of one may run. */
  const taskOf = new Map<string, string>();
  const uses = createSlotUses(count);
  let closed = false;
  let disabled = false;
  const need = () => ({ used: claims.size - handedOver.size, waits: waits() });
  const shared = typeof slots === 'number' ? undefined : slots.join({ need, onFree });
  const own = typeof slots === 'number' ? slots : 0;
  const freeSlots: RunningAttempts['freeSlots'] = (ended = []) => {
    const freed = ended.filter((claim) => claims.has(claim) && !handedOver.has(claim)).length;
    if (closed || disabled) return 0;
    return shared?.free(freed) ?? Math.max(0, own + freed + handedOver.size - claims.size);
  };
  const runningOf: RunningAttempts['runningOf'] = (task, ended = []) => {
    const running = [...taskOf].filter(
      ([claim]) => !ended.includes(claim) && !handedOver.has(claim),
    );
    return running.filter(([, key]) => key === task).length;
  };
  const reserve: RunningAttempts['reserve'] = (steps, ended, job) => {
    if (freeSlots(ended) < steps.length) return false;
    const wanted = limitsOf(job, steps);
    const haveRoom = wanted.every(({ task, slots: most }) => {
      const more = wanted.filter((other) => other.task === task).length;
      return runningOf(task, ended) + more <= most;
    });
    if (!haveRoom) return false;
    const party = partyOf(job);
    for (const { claim } of steps) {
      claims.add(claim);
      uses.take(claim, party);
    }
    for (const { claim, task } of wanted) taskOf.set(claim, task);
    const there = ended.filter((claim) => claims.has(claim));
    for (const claim of there.slice(0, steps.length)) handedOver.add(claim);
    return true;
  };
  return {
    ...{ claims, freeSlots, runningOf, reserve, freed: shared?.freed ?? onFree },
    use: (ended: readonly string[] = []): SlotUse =>
      uses.now(ended.length === 0 ? handedOver : new Set([...handedOver, ...ended])),
    hasRoom: ({ task, slots: most }: TaskSlots): boolean => runningOf(task) < most,
    /** The attempt of a claim begins. */
    began: uses.began,
    /** Claims keep the slots that they were to hand over. */
    keep: (ended: readonly string[] = []): void => {
      for (const claim of ended) handedOver.delete(claim);
    },
    /** The slot of the claim is free. */
    free: (claim: string): void => {
      handedOver.delete(claim);
      taskOf.delete(claim);
      uses.leave(claim);
      claims.delete(claim);
    },
    enable: (enabled: boolean): void => void (disabled = !enabled),
    close: (): void => void (closed = true),
  };
}

/** The limits of the tasks of some claims, where they have any. */
function limitsOf(job: LiveJob, steps: readonly LiveStep[]) {
  return steps.flatMap((step) => {
    const limit = limitOf(job, step);
    return limit === undefined ? [] : [{ ...limit, claim: step.claim }];
  });
}

/** Who has the slots of this engine, and who had them before. */
export type SlotUses = {
  /** A claim takes a slot for somebody. */
  readonly take: (claim: string, party: Party) => void;
  readonly leave: (claim: string) => void;
  /** The attempt of a claim begins. */
  readonly began: (claim: string) => void;
  /** Who has how many; claims that are `over` do not count. It changes with who takes slots. */
  readonly now: (over: ReadonlySet<string>) => SlotUse;
};

/** Maximum number of owners, and of roots, whose use of slots is remembered. */
const remembered = 20_000;

type Past = LRUCache<string, { readonly had: number; readonly last: number }>;

/** @param next gives the next number of the engine's count */
export function createSlotUses(next: () => number): SlotUses {
  const parties = new Map<string, Party>();
  const owners: Past = createLru(remembered);
  const roots: Past = createLru(remembered);
  const ofOwner = new Map<string, number>();
  const ofRoot = new Map<string, number>();
  /** Counts up or down; who has none is not kept. */
  const count = ({ owner, root }: Party, by: 1 | -1): void => {
    for (const [counts, one] of [
      [ofOwner, owner],
      [ofRoot, root],
    ] as const) {
      const now = (counts.get(one) ?? 0) + by;
      if (now === 0) counts.delete(one);
      else counts.set(one, now);
    }
  };
  const all: SlotUse = {
    ...{ ofOwner, ofRoot },
    had: (root: string) => roots.get(root)?.had ?? 0,
    lastOfOwner: (owner: string) => owners.get(owner)?.last ?? 0,
    lastOfRoot: (root: string) => roots.get(root)?.last ?? 0,
  };
  return {
    take: (claim, party) => {
      if (parties.has(claim)) return;
      parties.set(claim, party);
      count(party, 1);
    },
    leave: (claim) => {
      const party = parties.get(claim);
      if (party === undefined) return;
      parties.delete(claim);
      count(party, -1);
    },
    began: (claim) => {
      const party = parties.get(claim);
      if (party === undefined) return;
      const { owner, root } = party;
      const last = next();
      for (const [past, one] of [
        [owners, owner],
        [roots, root],
      ] as const) {
        past.set(one, { had: (past.get(one)?.had ?? 0) + 1, last });
      }
    },
    now: (over) =>
      withTaken(
        all,
        [...over].flatMap((claim) => parties.get(claim) ?? []),
        -1,
      ),
  };
}
