import type { Outcome } from '../decide/intent.js';
import { resultsFor } from '../decide/input.js';
import { scopeOf } from '../decide/scope.js';
import { timeoutOf } from '../decide/clock.js';
import { historyOf } from '../model/history.js';
import type { LiveJob } from '../model/job.js';
import { exits, type LiveStep } from '../model/step.js';
import { createContext } from '../plugin/context.js';
import type { LoadedPlugin } from '../plugin/loader.js';
import { runPlugin } from '../plugin/run.js';
import type { OlderFormat } from '../secrets/older-format.js';
import { decryptDeep } from '../secrets/parameters.js';
import { TwsError } from '../errors.js';
import type { Log } from './log.js';
import { after } from './timers.js';

/** Why an attempt is stopped before its end. `fenced`: it is no longer ours; nobody wants its outcome. */
export type StopReason = 'cancelled' | 'released' | 'fenced';

/** An attempt in hand. `outcome` always resolves, at the latest `graceMs` after a stop. */
export type Attempt = {
  readonly claim: string;
  readonly outcome: Promise<Outcome>;
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
};

/** Runs one claimed attempt. Its claim must have been confirmed by the store before. */
export function runAttempt(
  plugin: LoadedPlugin,
  job: LiveJob,
  step: LiveStep,
  options: RunnerOptions,
): Attempt {
  const abort = new AbortController();
  const timeoutMs = timeoutOf(job, step);
  let reason: StopReason | undefined;
  let giveUp: (outcome: Outcome) => void = () => undefined;
  const stopped = new Promise<Outcome>((resolve) => {
    giveUp = resolve;
  });

  const callOff = after(timeoutMs, () => {
    const message = `The attempt took longer than ${timeoutMs} ms.`;
    abort.abort(new DOMException(message, 'TimeoutError'));
    giveUp({ kind: 'timeout', timeoutMs });
  });
  let grace: NodeJS.Timeout | undefined;
  const stop = (why: StopReason): void => {
    if (reason !== undefined) return;
    reason = why;
    abort.abort(new DOMException(`The attempt was ${why}.`, 'AbortError'));
    grace = setTimeout(() => giveUp(stoppedOutcome(why)), why === 'fenced' ? 0 : options.graceMs);
  };
  const ran = call(plugin, job, step, abort.signal, options).then((outcome): Outcome => {
    return reason !== undefined && outcome.kind === 'failed' ? stoppedOutcome(reason) : outcome;
  });
  const outcome = Promise.race([ran, stopped]).finally(() => {
    callOff();
    clearTimeout(grace);
  });
  return { claim: step.claim, outcome, stop };
}

function stoppedOutcome(reason: StopReason): Outcome {
  return { kind: reason === 'cancelled' ? 'cancelled' : 'released' };
}

async function call(
  plugin: LoadedPlugin,
  job: LiveJob,
  step: LiveStep,
  signal: AbortSignal,
  { log, cwd, cryptoKey, olderSecrets, onSecret = () => undefined }: RunnerOptions,
): Promise<Outcome> {
  const about = { job: job._id, step: step.name, attempt: step.attempt };
  try {
    const { params, clear } = decryptDeep(step.params, cryptoKey, `job ${job._id}`, olderSecrets);
    clear.forEach(onSecret);
    const { results, parent_results } = resultsFor(job, step);
    const { context, redact } = createContext({
      params,
      clear,
      job,
      step,
      results,
      parentResults: parent_results,
      item: scopeOf(job, step.path)['item'],
      ...(step['seen'] === undefined ? {} : { history: historyOf(job, Number(step['start'])) }),
      signal,
      log: (message, data) => log.info(data === undefined ? about : { ...about, data }, message),
      heartbeat: () => undefined,
      key: `${job._id}:${step.path}`,
      cwd,
    });
    return await runPlugin(plugin, context, { redact, verify: step.attempt > 1 });
  } catch (error) {
    // Nothing a plugin or a document does may end the engine.
    const { message } = error as { message?: unknown };
    const name = error instanceof TwsError ? 'SecretUnreadable' : 'AttemptFailed';
    const failure = { name, message: String(message ?? error) };
    return { kind: 'failed', failure, exit: exits.definition, retryable: false };
  }
}
