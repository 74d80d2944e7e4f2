import type { Clock } from '../../clock/clock.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import { limitsOf } from '../../reading/entries.js';
import type { Report } from '../../decide/finish/report.js';
import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import type { Failure, LiveStep } from '../../model/step.js';
import { trackAttribution, onOwnBehalf, type Attribution } from '../../plugin/attribution.js';
import type { LoadedPlugin, PluginRegistry } from '../../plugin/loader.js';
import type { AttemptFacts, AttemptMeter, EngineMeters } from '../meters.js';
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
  /** By which its times run. */
  readonly clock: Clock;
  readonly blocking: BlockWatch;
};

/** Writes a report of an attempt into its step. Must not reject. */
export type WriteReport = (report: Report) => Promise<void>;

export type BeginningOptions = RunnerOptions & {
  readonly plugins: PluginRegistry;
  readonly meters?: Partial<EngineMeters> | undefined;
  /** Writes what an attempt has reported so far. */
  readonly onReport: (job: string, step: LiveStep, report: Report) => Promise<void>;
};

/** Begins an attempt; one that cannot be started has failed. */
export function beginAttempt(
  options: BeginningOptions,
  job: LiveJob,
  step: LiveStep,
): { readonly attempt: RunningAttempt; readonly meter: AttemptMeter | undefined } {
  const { plugins, meters, onReport } = options;
  let meter: AttemptMeter | undefined;
  try {
    meter = meters?.attempt?.(factsOf(job, step));
    const plugin = plugins.get(step.plugin);
    if (plugin === undefined) {
      return { meter, attempt: failed(step, failure('PluginMissing', { plugin: step.plugin })) };
    }
    const write = (report: Report): Promise<void> => onReport(job._id, step, report);
    const claimed = { plugin, job, step };
    const attempt =
      meter === undefined
        ? runAttempt(claimed, options, write)
        : meter.run(() => runAttempt(claimed, options, write));
    return { meter, attempt };
  } catch (error) {
    // A claim that is kept and was never started would keep its job for ever.
    const reason = `It could not be started: ${error instanceof Error ? error.message : String(error)}`;
    return { meter, attempt: failed(step, failure('AttemptFailed', { reason })) };
  }
}

/** The facts of an attempt. */
function factsOf(job: LiveJob, step: LiveStep): AttemptFacts {
  const { _id, flow = '', owner = 'DEFAULT' } = job;
  const { name, path, task, plugin, attempt, engine } = step;
  const trace = (job as { readonly traceparent?: unknown }).traceparent;
  return {
    job: _id,
    flow,
    owner,
    step: name,
    path,
    task,
    plugin,
    attempt,
    engine,
    ...(typeof trace === 'string' ? { trace } : {}),
  };
}

/** An attempt that failed before its plugin was called. */
function failed({ claim }: LiveStep, why: Failure): RunningAttempt {
  const outcome = Promise.resolve<Outcome>({ kind: 'failed', failure: why });
  return { claim, outcome, report: () => ({}), stop: () => undefined };
}

/** Runs one claimed attempt. Its claim must have been confirmed by the store before. */
export function runAttempt(
  claimed: ClaimedStep,
  options: RunnerOptions,
  write: WriteReport = () => Promise.resolve(),
): RunningAttempt {
  const { plugin, job, step } = claimed;
  const { timeoutMs, heartbeatMs } = limitsOf(job, step);
  const { clock } = options;
  const began = clock.steady();
  // Most attempts have nothing to report.
  let reporter: Reporter | undefined;
  let isOver = false;
  const reporting = (): Reporter => {
    reporter ??= createReporter({
      ...{ write, clock },
      ...reportTimes(options.reportMs, heartbeatMs, clock.steady() - began),
    });
    if (isOver) reporter.stop();
    return reporter;
  };
  const ending = createEnding(options.graceMs, clock);
  const limits = watchLimits({ timeoutMs, heartbeatMs }, ending.giveUp, clock);
  const callbacks = callbacksFor(reporting, limits.beat, ending.signal, options.now);
  const attribution: Attribution = {
    plugin: plugin.name,
    file: plugin.file,
    about: aboutOf(job, step),
    ...(timeoutMs === Infinity ? {} : { endsAt: options.now() + timeoutMs }),
    fail: (outcome) =>
      ending.giveUp(ending.unlessStopped(outcome), outcome.failure.message, 'AbortError'),
  };
  const leave = appear(attribution, plugin, options.blocking, reporting);
  const called = { ...callbacks, timed: leave.ran, attribution };
  const ran = callPlugin(claimed, called, options).then(ending.unlessStopped);
  const outcome = Promise.race([ran, ending.given]).finally(() => {
    ending.close();
    leave.end();
    limits.stop();
    isOver = true;
    reporter?.stop();
  });
  const report = (): Report => reporter?.report() ?? {};
  return { claim: step.claim, outcome, report, stop: ending.stop };
}

/** Before the first report, ms: short attempts cost no revision more. */
const firstReportMs = 1_000;

/** `ranMs`: so long the attempt has run. */
function reportTimes(reportMs: number, heartbeatMs: number, ranMs: number) {
  return {
    firstMs: Math.min(firstReportMs, reportMs) - ranMs,
    everyMs: Math.min(reportMs, Math.max(firstReportMs, heartbeatMs / 2)),
  };
}

/** How an attempt is ended from outside. */
function createEnding(graceMs: number, { after }: Pick<Clock, 'after'>) {
  const abort = new AbortController();
  let reason: StopReason | undefined;
  let over = false;
  let callOff = (): void => undefined;
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
      callOff = after(why === 'fenced' ? 0 : graceMs, () => give(stoppedOutcome(why)));
    },
    /** A plugin that fails when it is stopped was stopped. */
    unlessStopped: (outcome: Outcome): Outcome =>
      reason !== undefined && outcome.kind === 'failed' ? stoppedOutcome(reason) : outcome,
    close: (): void => {
      over = true;
      callOff();
    },
  };
}

/** Gives the attempt up when it takes too long, or is silent for too long. */
function watchLimits(
  { timeoutMs, heartbeatMs }: { readonly timeoutMs: number; readonly heartbeatMs: number },
  giveUp: (outcome: Outcome, message: string) => boolean,
  clock: Clock,
) {
  const callOff = clock.after(timeoutMs, () => {
    giveUp({ kind: 'timeout', timeoutMs }, `The attempt took longer than ${timeoutMs} ms.`);
  });
  const tooSilent = (): void => {
    giveUp({ kind: 'silent', heartbeatMs }, `There was no heartbeat for ${heartbeatMs} ms.`);
  };
  if (heartbeatMs === Infinity) return { beat: (): void => undefined, stop: callOff };
  const silence = watchHeartbeat(heartbeatMs, tooSilent, clock);
  return {
    beat: silence.beat,
    stop: (): void => {
      callOff();
      silence.stop();
    },
  };
}

/** What a callback causes is attributed to the engine, not to the plugin. */
function callbacksFor(
  reporting: () => Reporter,
  beat: () => void,
  signal: AbortSignal,
  now: () => number,
): Omit<AttemptCallbacks, 'timed' | 'attribution'> {
  const onOwn = (run: () => void): void => onOwnBehalf(run);
  return {
    signal,
    heartbeat: (details) => {
      beat();
      if (details !== undefined) onOwn(() => reporting().details(details));
    },
    setData: (changes, { always = false } = {}) => onOwn(() => reporting().data(changes, always)),
    setStatus: (status) => onOwn(() => reporting().status(status)),
    progress: (progress) => onOwn(() => reporting().progress(progress)),
    log: (message, data) => {
      const line = { at: now(), message, ...(data === undefined ? {} : { data }) };
      onOwn(() => reporting().log(line));
    },
  };
}

/** Registers the attempt as one that may disturb the process. */
function appear(
  attribution: Attribution,
  { module }: LoadedPlugin,
  blocking: BlockWatch,
  reporting: () => Reporter,
) {
  const blocked = (ms: number): void => reporting().blocked(ms);
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
