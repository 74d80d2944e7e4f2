import type { Outcome } from '../decide/intent.js';
import type { Report } from '../decide/report.js';
import type { LiveJob } from '../model/job.js';
import type { LiveStep } from '../model/step.js';
import type { PluginRegistry } from '../plugin/loader.js';
import {
  runAttempt,
  type Attempt,
  type RunnerOptions,
  type StopReason,
  type WriteReport,
} from './runner.js';

/**
 * The attempts this process has in hand. A claim takes its slot when it is decided, before it is
 * written, and keeps it until its outcome is written.
 */
export type Hands = {
  readonly claims: ReadonlySet<string>;
  /** Free slots; `ended` is a claim whose slot is about to come free. */
  readonly freeSlots: (ended?: string) => number;
  readonly reserve: (steps: readonly LiveStep[]) => void;
  readonly release: (claim: string) => void;
  /** Starts a reserved attempt; its claim was confirmed. */
  readonly start: (job: LiveJob, step: LiveStep, hear: Hearers) => void;
  readonly stop: (claim: string, reason: StopReason) => void;
  readonly stopAll: (reason: StopReason) => void;
  /** Attempts of a job that run here. */
  readonly of: (job: string) => readonly string[];
  /** From now on there are no free slots. */
  readonly close: () => void;
  /** Resolves when nothing is in hand any more. */
  readonly empty: () => Promise<void>;
};

/** Who hears of an attempt. */
export type Hearers = {
  /** Called once, with its outcome and all that it told on the way. */
  readonly ended: (outcome: Outcome, told: Report) => Promise<void>;
  /** Writes what it has told so far. */
  readonly told: WriteReport;
};

export type HandsOptions = RunnerOptions & {
  readonly plugins: PluginRegistry;
  readonly slots: number;
  /** A slot came free. */
  readonly onFree: () => void;
};

export function createHands(options: HandsOptions): Hands {
  const { plugins, slots, onFree } = options;
  const claims = new Set<string>();
  const attempts = new Map<string, Attempt & { readonly job: string }>();
  const emptied: (() => void)[] = [];
  let closed = false;

  const release = (claim: string): void => {
    attempts.delete(claim);
    if (!claims.delete(claim)) return;
    if (claims.size === 0) for (const resolve of emptied.splice(0)) resolve();
    onFree();
  };
  const missing = (step: LiveStep): Outcome => ({
    kind: 'failed',
    failure: {
      name: 'PluginMissing',
      message: `Plugin ${step.plugin} went away from this engine.`,
    },
  });
  return {
    claims,
    release,
    freeSlots: (ended) => {
      const freed = ended !== undefined && claims.has(ended) ? 1 : 0;
      return closed ? 0 : Math.max(0, slots - claims.size + freed);
    },
    reserve: (steps) => {
      for (const step of steps) claims.add(step.claim);
    },
    start: (job, step, hear) => {
      const plugin = plugins.get(step.plugin);
      const outcome = Promise.resolve(missing(step));
      const attempt: Attempt =
        plugin === undefined
          ? { claim: step.claim, outcome, told: () => ({}), stop: () => undefined }
          : runAttempt(plugin, job, step, options, hear.told);
      attempts.set(step.claim, { ...attempt, job: job._id });
      void attempt.outcome
        .then((how) => hear.ended(how, attempt.told()))
        .finally(() => release(step.claim));
    },
    stop: (claim, reason) => attempts.get(claim)?.stop(reason),
    stopAll: (reason) => {
      for (const attempt of attempts.values()) attempt.stop(reason);
    },
    of: (job) => [...attempts.values()].filter((one) => one.job === job).map((one) => one.claim),
    close: () => {
      closed = true;
    },
    empty: () =>
      claims.size === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve)),
  };
}
