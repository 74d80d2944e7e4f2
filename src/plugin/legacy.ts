import { AsyncLocalStorage } from 'node:async_hooks';
import type { PluginContext, PluginModule } from './api.js';
import { pluginProblem } from './failures.js';

type Json = Record<string, unknown>;
type Log = PluginContext['log'];

/** The older contract: a factory that makes the runner of a task. */
export type LegacyFactory = (options: LegacyOptions) => unknown;
export type LegacyRunner = (job: Json, step: Json, params: unknown) => unknown;

/** What a factory gets. */
export type LegacyOptions = { readonly name: string; readonly logger: LegacyLogger };

const levels = ['debug', 'info', 'warn', 'error'] as const;
export type LegacyLogger = Readonly<
  Record<(typeof levels)[number], (...texts: readonly unknown[]) => void>
>;

/**
 * Calls a factory once. The answer is the plugin in the present contract, or undefined when the
 * factory made no function, that is, when it was none. `log` takes what is said outside a run.
 * What the factory throws passes through.
 */
export function adaptLegacy(
  name: string,
  factory: LegacyFactory,
  log: Log,
): PluginModule | undefined {
  const running = new AsyncLocalStorage<PluginContext>();
  const logger = legacyLogger((...line) => (running.getStore()?.log ?? log)(...line));
  const runner = factory({ name, logger });
  if (typeof runner !== 'function') {
    settleQuietly(runner);
    return undefined;
  }
  return {
    default: (context) => running.run(context, () => run(name, runner as LegacyRunner, context)),
  };
}

/** A result is `step.stdout` when the runner wrote it, else what its promise came to. */
async function run(name: string, runner: LegacyRunner, context: PluginContext): Promise<unknown> {
  const { job, step, params } = structuredClone({
    job: context.job,
    step: context.step,
    params: context.params,
  });
  const ownStep: Json = { ...step };
  delete ownStep.stdout;
  const promise = runner({ ...job }, ownStep, params);
  if (!isPromise(promise)) throw pluginProblem('NoPromise', { plugin: name, got: kind(promise) });
  const value = await promise;
  return ownStep.stdout === undefined ? value : ownStep.stdout;
}

function legacyLogger(log: Log): LegacyLogger {
  const lines = levels.map((level) => {
    const write = (...texts: readonly unknown[]): void =>
      log(texts.map(toText).join(' '), { level });
    return [level, write] as const;
  });
  return Object.fromEntries(lines) as LegacyLogger;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return value.message;
  return JSON.stringify(value) ?? String(value);
}

/** What was no factory may have begun something that fails without anybody waiting for it. */
function settleQuietly(answer: unknown): void {
  if (isPromise(answer)) void Promise.resolve(answer).catch(() => undefined);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
    ? typeof value.then === 'function'
    : false;
}

function kind(value: unknown): string {
  if (value === undefined) return 'nothing';
  return value === null ? 'null' : `a value of type ${typeof value}`;
}
