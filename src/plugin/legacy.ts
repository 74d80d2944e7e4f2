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
 * Adapts a function that may be of either contract. Nothing is called before the first attempt: that
 * call gets the context and, with it, the options of a factory. A function as its answer is the runner
 * of the older contract and serves every attempt from then on; any other answer is the result of a
 * plugin of the present contract. `log` takes what a factory says outside an attempt.
 */
export function eitherContract(name: string, plugin: LegacyFactory, log: Log): PluginModule {
  const running = new AsyncLocalStorage<PluginContext>();
  const logger = legacyLogger((...line) => (running.getStore()?.log ?? log)(...line));
  let runner: LegacyRunner | undefined;
  let isPresent = false;
  const call = (context: PluginContext): unknown => {
    if (runner === undefined) {
      const answer = plugin(withOptions(context, { name, logger }));
      isPresent = typeof answer !== 'function';
      if (isPresent) return answer;
      runner = answer as LegacyRunner;
    }
    return run(name, runner, context);
  };
  return {
    default: (context) => {
      if (isPresent) return call(context);
      const answer = running.run(context, () => call(context));
      // It has no use for the loggers of the older contract.
      if (isPresent) running.disable();
      return answer;
    },
  };
}

/** The context and the options in one, without looking at what is only made when it is looked at. */
function withOptions(context: PluginContext, options: LegacyOptions): LegacyOptions {
  return Object.defineProperties({ ...options }, Object.getOwnPropertyDescriptors(context));
}

/** A result is `step.stdout` when the runner wrote it, else what its promise came to. */
async function run(name: string, runner: LegacyRunner, context: PluginContext): Promise<unknown> {
  const { job, step, params } = structuredClone({
    job: context.job,
    step: context.step,
    params: context.params,
  });
  const { failure } = context;
  const ownStep: Json = { ...step, ...(failure === undefined ? {} : { failure }) };
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

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
    ? typeof value.then === 'function'
    : false;
}

function kind(value: unknown): string {
  if (value === undefined) return 'nothing';
  return value === null ? 'null' : `a value of type ${typeof value}`;
}
