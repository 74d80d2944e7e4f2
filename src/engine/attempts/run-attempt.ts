import type { Outcome } from '../../decide/outcome.js';
import { heartbeatOf, timeoutOf } from '../../decide/clock.js';
import type { Report } from '../../decide/report.js';
import type { LiveJob } from '../../model/job.js';
import type { LiveStep } from '../../model/step.js';
import { known, onBehalfOf, onOwnBehalf, type Culprit } from '../../plugin/attribution.js';
import type { LoadedPlugin } from '../../plugin/loader.js';
import type { BlockWatch } from '../watch/blocking.js';
import { aboutOf, callPlugin, type CallOptions, type Telling } from './call-plugin.js';
import { createReporter, type Reporter } from './reporter.js';
import { watchSilence } from './heartbeat-watch.js';
import { after } from '../waiting/timers.js';

/** Why an attempt is stopped before its end. `fenced`: it is no longer ours; nobody wants its outcome. */
export type StopReason = 'cancelled' | 'released' | 'fenced';

/** An attempt in hand. `outcome` always resolves, at the latest `graceMs` after a stop. */
export type Attempt = {
  readonly claim: string;
  readonly outcome: Promise<Outcome>;
  /** What it told on the way so far. */
  readonly told: () => Report;
  readonly stop: (reason: StopReason) => void;
};

export type RunnerOptions = CallOptions & {
  /** How long a plugin may take to end after its `signal` was aborted, ms. */
  readonly graceMs: number;
  /** What an attempt tells of itself is written that often at most, ms. */
  readonly reportMs: number;
  readonly now: () => number;
  readonly blocking: BlockWatch;
};

/** Writes what an attempt told into its step. Must not reject. */
export type WriteReport = (told: Report) => Promise<void>;

/** Runs one claimed attempt. Its claim must have been confirmed by the store before. */
export function runAttempt(
  plugin: LoadedPlugin,
  job: LiveJob,
  step: LiveStep,
  options: RunnerOptions,
  write: WriteReport = () => Promise.resolve(),
): Attempt {
  const heartbeatMs = heartbeatOf(job, step);
  const reporter = createReporter({ write, ...reportTimes(options.reportMs, heartbeatMs) });
  const ending = createEnding(options.graceMs);
  const timeoutMs = timeoutOf(job, step);
  const limits = watchLimits(timeoutMs, heartbeatMs, ending.giveUp);
  const telling = tellTo(reporter, limits.beat, ending.signal, options.now);
  const culprit: Culprit = {
    plugin: plugin.name,
    file: plugin.file,
    about: aboutOf(job, step),
    ...(timeoutMs === Infinity ? {} : { endsAt: options.now() + timeoutMs }),
    fail: (outcome) =>
      ending.giveUp(ending.unlessStopped(outcome), outcome.failure.message, 'AbortError'),
  };
  const leave = appear(culprit, plugin, options.blocking, reporter);
  const ran = onBehalfOf(culprit, () =>
    callPlugin(plugin, job, step, { ...telling, timed: leave.ran }, options),
  ).then(ending.unlessStopped);
  const outcome = Promise.race([ran, ending.given]).finally(() => {
    ending.close();
    leave.end();
    limits.stop();
    reporter.stop();
  });
  return { claim: step.claim, outcome, told: reporter.told, stop: ending.stop };
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
  const silence = watchSilence(heartbeatMs, () => {
    giveUp({ kind: 'silent', heartbeatMs }, `There was no heartbeat for ${heartbeatMs} ms.`);
  });
  return {
    beat: silence.beat,
    stop: (): void => {
      callOff();
      silence.stop();
    },
  };
}

/** What follows from what a plugin tells is the engine's doing, not the plugin's. */
function tellTo(
  reporter: Reporter,
  beat: () => void,
  signal: AbortSignal,
  now: () => number,
): Omit<Telling, 'timed'> {
  const tell = (run: () => void): void => onOwnBehalf(run);
  return {
    signal,
    heartbeat: (details) => {
      beat();
      if (details !== undefined) tell(() => reporter.details(details));
    },
    setData: (changes) => tell(() => reporter.data(changes)),
    progress: (progress) => tell(() => reporter.progress(progress)),
    log: (message, data) => {
      const line = { at: now(), message, ...(data === undefined ? {} : { data }) };
      tell(() => reporter.log(line));
    },
  };
}

/** Makes the attempt known to those who look for whoever disturbs the process. */
function appear(
  culprit: Culprit,
  { module }: LoadedPlugin,
  blocking: BlockWatch,
  { blocked }: Reporter,
) {
  // What runs in a thread or a process of its own blocks nobody.
  const watched =
    module.isolate === undefined ? blocking.begin({ ...culprit, blocked }) : undefined;
  const forget = known(culprit);
  return {
    ran: watched?.ran,
    end: (): void => {
      watched?.end();
      forget();
    },
  };
}
