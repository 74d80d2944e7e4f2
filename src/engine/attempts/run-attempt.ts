import type { Outcome } from '../../decide/finish/outcome.js';
import { limitsOf } from '../../reading/clock.js';
import type { Report } from '../../decide/finish/report.js';
import {
  trackAttribution,
  onBehalfOf,
  onOwnBehalf,
  type Attribution,
} from '../../plugin/attribution.js';
import type { LoadedPlugin } from '../../plugin/loader.js';
import type { BlockWatch } from '../watch/blocking.js';
import {
  aboutOf,
  callPlugin,
  type ClaimedStep,
  type AttemptCallbacks,
  type CallOptions,
} from './call-plugin.js';
import { createReporter, type Reporter } from './reporter.js';
import { watchHeartbeat } from './heartbeat-watch.js';
import { after } from '../waiting/timers.js';

/** Why an attempt is stopped before its end. `fenced`: it is no longer ours; nobody wants its outcome. */
export type StopReason = 'cancelled' | 'released' | 'fenced';

/** A running attempt. `outcome` always resolves, at the latest `graceMs` after a stop. */
export type RunningAttempt = {
  readonly claim: string;
  readonly outcome: Promise<Outcome>;
  /** What it has reported so far. */
  readonly report: () => Report;
  readonly stop: (reason: StopReason) => void;
};

export type RunnerOptions = CallOptions & {
  /** How long a plugin may take to end after its `signal` was aborted, ms. */
  readonly graceMs: number;
  /** Minimum time between two reports of an attempt, ms. */
  readonly reportMs: number;
  readonly now: () => number;
  readonly blocking: BlockWatch;
};

/** Writes a report of an attempt into its step. Must not reject. */
export type WriteReport = (report: Report) => Promise<void>;

/** Runs one claimed attempt. Its claim must have been confirmed by the store before. */
export function runAttempt(
  claimed: ClaimedStep,
  options: RunnerOptions,
  write: WriteReport = () => Promise.resolve(),
): RunningAttempt {
  const { plugin, job, step } = claimed;
  const { timeoutMs, heartbeatMs } = limitsOf(job, step);
  const reporter = createReporter({ write, ...reportTimes(options.reportMs, heartbeatMs) });
  const ending = createEnding(options.graceMs);
  const limits = watchLimits(timeoutMs, heartbeatMs, ending.giveUp);
  const callbacks = callbacksFor(reporter, limits.beat, ending.signal, options.now);
  const attribution: Attribution = {
    plugin: plugin.name,
    file: plugin.file,
    about: aboutOf(job, step),
    ...(timeoutMs === Infinity ? {} : { endsAt: options.now() + timeoutMs }),
    fail: (outcome) =>
      ending.giveUp(ending.unlessStopped(outcome), outcome.failure.message, 'AbortError'),
  };
  const leave = appear(attribution, plugin, options.blocking, reporter);
  const ran = onBehalfOf(attribution, () =>
    callPlugin(claimed, { ...callbacks, timed: leave.ran }, options),
  ).then(ending.unlessStopped);
  const outcome = Promise.race([ran, ending.given]).finally(() => {
    ending.close();
    leave.end();
    limits.stop();
    reporter.stop();
  });
  return { claim: step.claim, outcome, report: reporter.report, stop: ending.stop };
}

/** Before the first report, ms: short attempts cost no revision more. */
const firstReportMs = 1_000;

function reportTimes(reportMs: number, heartbeatMs: number) {
  return {
    firstMs: Math.min(firstReportMs, reportMs),
    everyMs: Math.min(reportMs, Math.max(firstReportMs, heartbeatMs / 2)),
  };
}

/** How an attempt is ended from outside. */
function createEnding(graceMs: number) {
  const abort = new AbortController();
  let reason: StopReason | undefined;
  let over = false;
  let grace: NodeJS.Timeout | undefined;
  let give: (outcome: Outcome) => void = () => undefined;
  const given = new Promise<Outcome>((resolve) => {
    give = resolve;
  });
  const stoppedOutcome = (why: StopReason): Outcome => ({
    kind: why === 'cancelled' ? 'cancelled' : 'released',
  });
  return {
    signal: abort.signal,
    /** The outcome of whoever ends it first. */
    given,
    /** Ends it with this outcome; false when it had ended. */
    giveUp: (outcome: Outcome, message: string, name = 'TimeoutError'): boolean => {
      if (over) return false;
      abort.abort(new DOMException(message, name));
      give(outcome);
      return true;
    },
    /** Has the plugin end, within the grace. */
    stop: (why: StopReason): void => {
      if (reason !== undefined) return;
      reason = why;
      abort.abort(new DOMException(`The attempt was ${why}.`, 'AbortError'));
      grace = setTimeout(() => give(stoppedOutcome(why)), why === 'fenced' ? 0 : graceMs);
    },
    /** A plugin that fails when it is stopped was stopped. */
    unlessStopped: (outcome: Outcome): Outcome =>
      reason !== undefined && outcome.kind === 'failed' ? stoppedOutcome(reason) : outcome,
    close: (): void => {
      over = true;
      clearTimeout(grace);
    },
  };
}

/** Gives the attempt up when it takes too long, or is silent for too long. */
function watchLimits(
  timeoutMs: number,
  heartbeatMs: number,
  giveUp: (outcome: Outcome, message: string) => boolean,
) {
  const callOff = after(timeoutMs, () => {
    giveUp({ kind: 'timeout', timeoutMs }, `The attempt took longer than ${timeoutMs} ms.`);
  });
  const tooSilent = (): void => {
    giveUp({ kind: 'silent', heartbeatMs }, `There was no heartbeat for ${heartbeatMs} ms.`);
  };
  const silence = heartbeatMs === Infinity ? undefined : watchHeartbeat(heartbeatMs, tooSilent);
  return {
    beat: (): void => silence?.beat(),
    stop: (): void => {
      callOff();
      silence?.stop();
    },
  };
}

/** What a callback causes is attributed to the engine, not to the plugin. */
function callbacksFor(
  reporter: Reporter,
  beat: () => void,
  signal: AbortSignal,
  now: () => number,
): Omit<AttemptCallbacks, 'timed'> {
  const onOwn = (run: () => void): void => onOwnBehalf(run);
  return {
    signal,
    heartbeat: (details) => {
      beat();
      if (details !== undefined) onOwn(() => reporter.details(details));
    },
    setData: (changes) => onOwn(() => reporter.data(changes)),
    progress: (progress) => onOwn(() => reporter.progress(progress)),
    log: (message, data) => {
      const line = { at: now(), message, ...(data === undefined ? {} : { data }) };
      onOwn(() => reporter.log(line));
    },
  };
}

/** Registers the attempt as one that may disturb the process. */
function appear(
  attribution: Attribution,
  { module }: LoadedPlugin,
  blocking: BlockWatch,
  { blocked }: Reporter,
) {
  // What runs in a thread or a process of its own blocks nobody.
  const watched =
    module.isolate === undefined ? blocking.begin({ ...attribution, blocked }) : undefined;
  const forget = trackAttribution(attribution);
  return {
    ran: watched?.ran,
    end: (): void => {
      watched?.end();
      forget();
    },
  };
}
