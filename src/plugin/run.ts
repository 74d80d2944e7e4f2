import type { DetourOutcome } from '../model/detour-outcome.js';
import type { Redact } from '../secrets/redaction.js';
import type { PluginOutcome, PluginContext, PluginFailure } from './api.js';
import { callerFor, type Attribution } from './attribution.js';
import { Detour } from './detour.js';
import { Done } from './done.js';
import { pluginProblem } from './failures.js';
import { toJson } from './json.js';
import type { LoadedPlugin } from './loader.js';
import { isExit, toFailed } from './outcome.js';
import { checkParams } from './params.js';
import { noticedStop } from './context.js';

export type RunOptions = {
  /** Hides secrets in the failure and in the result (from `createContext`). */
  readonly redact?: Redact;
  /** True for each attempt after the first: asks the plugin's `verify` before it is called. */
  readonly verify?: boolean;
  /** Called with how long (ms) the plugin ran before its first pause. */
  readonly timed?: ((ms: number) => void) | undefined;
  /** Who is told on whose behalf the plugin's code runs, where it shares the process. */
  readonly attribution?: Attribution | undefined;
};

/**
 * Makes one attempt: `init` if it is the first call in this process, the check of the parameters,
 * `verify` if asked for, the call. Never rejects: whatever happens is an outcome. It ends when the
 * plugin does; limits of time are the caller's, who aborts `context.signal`.
 */
export async function runPlugin(
  plugin: LoadedPlugin,
  context: PluginContext,
  options: RunOptions = {},
): Promise<PluginOutcome> {
  let exit: number | undefined;
  const given = context.exit;
  // In its place, not in a copy: a copy would make what is only made when it is looked at.
  (context as { exit: PluginContext['exit'] }).exit = (code) => {
    if (!isExit(code)) throw pluginProblem('ExitInvalid', { code: String(code) });
    exit = code;
    given(code);
  };
  const { attribution } = options;
  if (attribution !== undefined) {
    attribution.log = context.log;
    attribution.redact = options.redact;
  }
  const outcome = await attempt(plugin, context, options);
  if (outcome.kind !== 'done' && outcome.kind !== 'failed') {
    return options.redact ? withoutSecrets(outcome, options.redact) : outcome;
  }
  const complete = exit === undefined ? outcome : { ...outcome, exit };
  return options.redact ? redacted(complete, options.redact) : complete;
}

type End = Extract<PluginOutcome, { kind: 'done' | 'failed' }>;

/** Only what the plugin said is looked through: a secret may be the word "done". */
function redacted(outcome: End, redact: Redact): PluginOutcome {
  if (outcome.kind === 'done') return { ...outcome, result: redact(outcome.result) };
  const entries = Object.entries(outcome.failure).map(([key, value]) => [key, redact(value)]);
  return { ...outcome, failure: Object.fromEntries(entries) as PluginFailure };
}

/**
 * A call elsewhere that asks to wait does not know there which parameters are secrets. The name of the signal is for
 * everybody to see, and nobody could give a signal whose name is hidden.
 */
function withoutSecrets(outcome: DetourOutcome, redact: Redact): PluginOutcome {
  if (outcome.kind !== 'wait') return outcome;
  const { signal, details } = outcome;
  if (redact(signal) !== signal) {
    const problem = 'the signal must not have a secret in its name';
    return toFailed(pluginProblem('DetourInvalid', { maker: 'wait', problem }));
  }
  return details === undefined ? outcome : { ...outcome, details: redact(details) };
}

async function attempt(
  plugin: LoadedPlugin,
  context: PluginContext,
  { verify = false, timed = () => undefined, attribution }: RunOptions,
): Promise<PluginOutcome> {
  // What runs elsewhere is told there.
  const call = callerFor(plugin.module.isolate === undefined ? attribution : undefined);
  try {
    await plugin.start(call);
    const invalid = plugin.check && (await checkParams(plugin, context.params));
    if (invalid) return toFailed(invalid);
    const answered = verify ? await call(() => plugin.module.verify?.(context)) : undefined;
    const verified = outcomeOfVerify(plugin.name, answered, context);
    if (verified !== undefined) return verified;
    // It was told to stop before it began.
    context.signal.throwIfAborted();
    const answer = await call(() => timedCall(plugin, context, timed));
    // Elsewhere it was looked at where the plugin ran.
    if (plugin.module.isolate === undefined) assertComplete(answer, context.signal);
    return done(plugin.name, answer);
  } catch (thrown) {
    return thrown instanceof Detour ? thrown.outcome : toFailed(thrown, context.cwd);
  }
}

function timedCall(
  { module }: LoadedPlugin,
  context: PluginContext,
  timed: (ms: number) => void,
): unknown {
  const began = performance.now();
  try {
    return module.default(context);
  } finally {
    timed(performance.now() - began);
  }
}

/** What follows from the answer of `verify`; undefined: the plugin is called. */
function outcomeOfVerify(
  plugin: string,
  answer: unknown,
  { requeue }: PluginContext,
): PluginOutcome | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (answer instanceof Detour) return answer.outcome;
  const { retry, fail } = answer as { readonly retry?: unknown; readonly fail?: unknown };
  if (typeof answer === 'object' && 'done' in answer) return done(plugin, answer.done);
  if (typeof retry === 'number') return requeue({ delay: retry }).outcome;
  const failed = failureOfVerify(fail);
  if (failed === undefined) throw pluginProblem('VerifyInvalid', { plugin });
  return toFailed(failed);
}

function failureOfVerify(fail: unknown): Error | undefined {
  const { name, message, code } = (typeof fail === 'string' ? { message: fail } : (fail ?? {})) as {
    readonly name?: unknown;
    readonly message?: unknown;
    readonly code?: unknown;
  };
  if (typeof message !== 'string') return undefined;
  return Object.assign(new Error(message), {
    ...{ retryable: false, stack: undefined },
    ...(typeof name === 'string' ? { name } : { name: 'VerifyFailed' }),
    ...(code === undefined ? {} : { code }),
  });
}

/**
 * Throws the reason of the signal where a plugin noticed that it was told to stop and returned all the
 * same, without saying that its work is complete.
 */
export function assertComplete(answer: unknown, signal: AbortSignal): void {
  if (answer instanceof Done || answer instanceof Detour) return;
  if (noticedStop(signal)) signal.throwIfAborted();
}

function done(plugin: string, value: unknown): PluginOutcome {
  if (value instanceof Detour) return value.outcome;
  const result = toJson(value instanceof Done ? value.result : value);
  if (result.ok) return { kind: 'done', result: result.value };
  return toFailed(pluginProblem('ResultNotJson', { plugin, at: result.at, what: result.what }));
}
