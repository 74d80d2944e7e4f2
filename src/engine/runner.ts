import type { Outcome } from '../decide/intent.js';
import { heartbeatOf, timeoutOf } from '../decide/clock.js';
import { resultsFor } from '../decide/input.js';
import { earlierAttempts, lastDetails, type Report } from '../decide/report.js';
import { scopeOf } from '../decide/scope.js';
import { historyOf } from '../model/history.js';
import type { LiveJob } from '../model/job.js';
import { exits, type LiveStep, type Step } from '../model/step.js';
import { createContext, type ContextInput } from '../plugin/context.js';
import type { LoadedPlugin } from '../plugin/loader.js';
import { runPlugin } from '../plugin/run.js';
import type { OlderFormat } from '../secrets/older-format.js';
import { decryptDeep } from '../secrets/parameters.js';
import { TwsError } from '../errors.js';
import type { Log } from './log.js';
import { createReporter } from './reporter.js';
import { watchSilence } from './silence.js';
import { after } from './timers.js';

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

export type RunnerOptions = {
  readonly log: Log;
  readonly cwd: string;
  readonly cryptoKey?: string | undefined;
  readonly olderSecrets?: OlderFormat | undefined;
  readonly onSecret?: ((clear: string) => void) | undefined;
  /** How long a plugin may take to end after its `signal` was aborted, ms. */
  readonly graceMs: number;
  /** What an attempt tells of itself is written that often at most, ms. */
  readonly reportMs: number;
  readonly now: () => number;
};

/** Writes what an attempt told into its step. Must not reject. */
export type WriteReport = (told: Report) => Promise<void>;

/** Before the first report, ms: short attempts cost no revision more. */
const firstReportMs = 1_000;

/** Runs one claimed attempt. Its claim must have been confirmed by the store before. */
export function runAttempt(
  plugin: LoadedPlugin,
  job: LiveJob,
  step: LiveStep,
  options: RunnerOptions,
  write: WriteReport = () => Promise.resolve(),
): Attempt {
  const { reportMs, graceMs } = options;
  const abort = new AbortController();
  const { signal } = abort;
  const heartbeatMs = heartbeatOf(job, step);
  const everyMs = Math.min(reportMs, Math.max(firstReportMs, heartbeatMs / 2));
  const firstMs = Math.min(firstReportMs, reportMs);
  const reporter = createReporter({ write, everyMs, firstMs });
  let reason: StopReason | undefined;
  let giveUp: (outcome: Outcome) => void = () => undefined;
  const givenUp = new Promise<Outcome>((resolve) => {
    giveUp = resolve;
  });
  const end = (outcome: Outcome, message: string): void => {
    abort.abort(new DOMException(message, 'TimeoutError'));
    giveUp(outcome);
  };

  const timeoutMs = timeoutOf(job, step);
  const callOff = after(timeoutMs, () =>
    end({ kind: 'timeout', timeoutMs }, `The attempt took longer than ${timeoutMs} ms.`),
  );
  const silence = watchSilence(heartbeatMs, () =>
    end({ kind: 'silent', heartbeatMs }, `There was no heartbeat for ${heartbeatMs} ms.`),
  );
  let grace: NodeJS.Timeout | undefined;
  const stop = (why: StopReason): void => {
    if (reason !== undefined) return;
    reason = why;
    abort.abort(new DOMException(`The attempt was ${why}.`, 'AbortError'));
    grace = setTimeout(() => giveUp(stoppedOutcome(why)), why === 'fenced' ? 0 : graceMs);
  };
  const telling: Telling = {
    signal,
    heartbeat: (details) => {
      silence.beat();
      if (details !== undefined) reporter.details(details);
      return signal.aborted;
    },
    progress: reporter.progress,
    log: (message, data) =>
      reporter.log({ at: options.now(), message, ...(data === undefined ? {} : { data }) }),
  };
  const ran = call(plugin, job, step, telling, options).then((outcome): Outcome => {
    return reason !== undefined && outcome.kind === 'failed' ? stoppedOutcome(reason) : outcome;
  });
  const outcome = Promise.race([ran, givenUp]).finally(() => {
    callOff();
    silence.stop();
    reporter.stop();
    clearTimeout(grace);
  });
  return { claim: step.claim, outcome, told: reporter.told, stop };
}

function stoppedOutcome(reason: StopReason): Outcome {
  return { kind: reason === 'cancelled' ? 'cancelled' : 'released' };
}

/** Where what a plugin says goes to. */
type Telling = Pick<ContextInput, 'signal' | 'log' | 'heartbeat' | 'progress'>;

async function call(
  plugin: LoadedPlugin,
  job: LiveJob,
  step: LiveStep,
  telling: Telling,
  { log, cwd, cryptoKey, olderSecrets, onSecret = () => undefined }: RunnerOptions,
): Promise<Outcome> {
  const about = { job: job._id, step: step.name, attempt: step.attempt };
  try {
    const { params, clear } = decryptDeep(step.params, cryptoKey, `job ${job._id}`, olderSecrets);
    clear.forEach(onSecret);
    const { results, parent_results } = resultsFor(job, step);
    const { context, redact } = createContext({
      ...telling,
      params,
      clear,
      job,
      step,
      results,
      parentResults: parent_results,
      item: scopeOf(job, step.path)['item'],
      ...(step['seen'] === undefined ? {} : { history: historyOf(job, Number(step['start'])) }),
      log: (message, data) => {
        log.info(data === undefined ? about : { ...about, data }, message);
        telling.log(message, data);
      },
      lastDetails: lastDetails(job, step),
      key: keyOf(job, step),
      cwd,
    });
    const earlier = earlierAttempts(job, step);
    tellChange(log, about, step, earlier);
    return await runPlugin(plugin, context, { redact, verify: earlier.length > 0 });
  } catch (error) {
    // Nothing a plugin or a document does may end the engine.
    const { message } = error as { message?: unknown };
    const name = error instanceof TwsError ? 'SecretUnreadable' : 'AttemptFailed';
    const failure = { name, message: String(message ?? error) };
    return { kind: 'failed', failure, exit: exits.definition, retryable: false };
  }
}

/** The idempotency key: another one after the job began anew, since then the work is to be done again. */
function keyOf({ _id, first_run: firstRun = 1 }: LiveJob, { path }: LiveStep): string {
  return firstRun === 1 ? `${_id}:${path}` : `${_id}:${path}:${firstRun}`;
}

/** Two attempts that ran different code may well have different results. */
function tellChange(log: Log, about: object, step: LiveStep, earlier: readonly Step[]): void {
  const { plugin, plugin_hash: now, name } = step;
  const last = earlier.findLast((attempt) => attempt['plugin_hash'] !== undefined);
  const before = last?.['plugin_hash'];
  if (last === undefined || before === now) return;
  const message = `Plugin ${plugin} of step ${name} has changed since attempt ${last.attempt}.`;
  log.warn({ ...about, before, now }, message);
}
