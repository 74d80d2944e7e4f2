import { AsyncLocalStorage } from 'node:async_hooks';
import type { PluginContext } from '../plugin/api.js';
import { PluginError } from '../plugin/errors.js';
import { isObject } from '../model/object.js';
import { changesOf, jobBefore, settingsOf, workflowJobOf, type WorkflowJob } from './job.js';

/** What a function calls when it has ended: an error, or the words `queue`, `retry` and `wait`; a result. */
export type WorkflowCallback = (error?: unknown, result?: unknown) => void;

/** The `body` of a task of node-workflow. */
export type WorkflowBody = (job: WorkflowJob, cb: WorkflowCallback) => unknown;

/** The `fallback` of one: the error with which the body failed comes first. */
export type WorkflowFallback = (error: unknown, job: WorkflowJob, cb: WorkflowCallback) => unknown;

type Run = (context: PluginContext) => Promise<unknown>;

/** The signal for which a task waits that called back with `wait`. */
export const resumeSignal = 'resume';

/** The name of a failure whose error was a text. */
export const textFailure = 'WorkflowError';

/**
 * Makes a plugin of the `body` of a task of node-workflow.
 *
 * - What it sets on `job` is kept in `job.data`, however the attempt ends, for later attempts and tasks.
 * - `cb(error)` fails the attempt, `cb(null, result)` completes the step, with "OK" without a result.
 * - `cb('wait')` waits for the signal "resume", which brings the result or the failure.
 * - `cb('queue')` completes the step; after a later `job.exec_after`, if it set one.
 * - `cb('retry')` begins the job anew, without what tasks have kept, after `initial_delay` of its workflow,
 *   doubled with each attempt up to `max_delay`.
 */
export function fromNodeWorkflow(body: WorkflowBody): Run {
  return (context) => {
    const queued = isObject(context.lastDetails) ? context.lastDetails['queued'] : undefined;
    if (isObject(queued)) return Promise.resolve(queued['result']);
    return run(context, (job, cb) => body(job, cb), body.length);
  };
}

/** Makes a plugin of the `fallback` of a task: as the handler of that task it gets the error of the body. */
export function fallbackFromNodeWorkflow(fallback: WorkflowFallback): Run {
  return (context) =>
    run(context, (job, cb) => fallback(errorOf(context), job, cb), fallback.length - 1);
}

const running = new AsyncLocalStorage<PluginContext>();

/** The message of the lines that `info` writes. */
export const infoMessage = 'info';

/** Adds to the information about the job in whose task it is called, as `info` of node-workflow does. */
export function info(record: unknown): void {
  running.getStore()?.log(infoMessage, { info: record });
}

async function run(context: PluginContext, body: WorkflowBody, takes: number): Promise<unknown> {
  const job = workflowJobOf(context);
  const before = jobBefore(job);
  const keep = (): void => context.setData(changesOf(job, before), { always: true });
  // It is told, in the only way that its author knows, and the changes of an attempt that is too late are kept.
  const onStop = (): void => {
    job['timeToDie'] = true;
    try {
      keep();
    } catch {
      // What is no JSON is not kept; the attempt ends anyway.
    }
  };
  context.signal.addEventListener('abort', onStop, { once: true });
  try {
    const { error, result } = await running.run(context, () => calledBack(body, job, takes));
    if (error === 'retry') return restart(context, job);
    keep();
    return ended(context, job, { error, result });
  } catch (thrown) {
    keep();
    throw thrown;
  } finally {
    context.signal.removeEventListener('abort', onStop);
  }
}

type CalledBack = { readonly error: unknown; readonly result: unknown };

/** How a function ended that calls back, or that is asynchronous and takes no callback. */
function calledBack(body: WorkflowBody, job: WorkflowJob, takes: number): Promise<CalledBack> {
  return new Promise((resolve, reject) => {
    const answer = body(job, (error, result) => resolve({ error, result }));
    if (!(answer instanceof Promise)) return;
    const rejected = (error: unknown): void =>
      reject(error instanceof Error ? error : new Error(String(error)));
    const settled = takes < 2 ? (result: unknown) => resolve({ error: null, result }) : () => null;
    answer.then(settled, rejected);
  });
}

function ended(context: PluginContext, job: WorkflowJob, { error, result }: CalledBack): unknown {
  const said = isSaid(result) ? result : 'OK';
  if (error === 'wait') return context.wait(resumeSignal);
  if (error === 'queue') return queued(context, job, said);
  if (isSaid(error)) throw failureOf(error);
  // It is complete, even where it was told to stop.
  return context.done(said);
}

/** The task is done; those that follow begin no earlier than the job says now. */
function queued(context: PluginContext, job: WorkflowJob, result: unknown): unknown {
  const given = job['exec_after'];
  const at = given instanceof Date ? given.getTime() : Date.parse(String(given));
  // The time of the engine, which in tests is its own.
  const { start, accepted } = context.step;
  const delay = at - Number(start ?? accepted ?? Date.now());
  if (!(delay > 0)) return context.done(result);
  context.heartbeat({ queued: { result } });
  return context.requeue({ delay });
}

/** The next attempt of the job begins with its parameters, and nothing else. */
function restart(context: PluginContext, job: WorkflowJob): unknown {
  const { data } = context.job;
  const gone = Object.keys(isObject(data) ? data : {}).map((key) => [key, null] as const);
  context.setData(Object.fromEntries(gone), { always: true });
  const { initial_delay: first = 0, max_delay: most = Infinity } = settingsOf(context.job);
  const delay = Math.min(most, first * 2 ** Number(job['num_attempts'] ?? 0), longestDelayMs);
  return context.restartJob({ delay });
}

/** A year. */
const longestDelayMs = 31_536_000_000;

/** node-workflow takes whatever is false for nothing. */
const isSaid = (value: unknown): boolean => Boolean(value);

function failureOf(error: unknown): PluginError {
  if (typeof error === 'string') return new PluginError(error, { name: textFailure });
  const { name, message, code, restCode, statusCode } = error as Readonly<Record<string, unknown>>;
  const known = [restCode, code, statusCode].find((one): one is string | number =>
    ['string', 'number'].includes(typeof one),
  );
  return new PluginError(typeof message === 'string' ? message : saying(error), {
    name: typeof name === 'string' && name !== '' ? name : 'Error',
    ...(known === undefined ? {} : { code: known }),
  });
}

function saying(error: unknown): string {
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return String(error);
  }
}

/** The error as the body gave it: a text, or an error with its name and code. */
function errorOf({ failure }: PluginContext): unknown {
  if (failure === undefined) return undefined;
  const { name, message, code } = failure;
  if (name === textFailure) return message;
  if (name === 'StepTimeout') return 'task timeout error';
  const plain = new Error(message);
  const error = name === 'Error' ? plain : Object.assign(plain, { name });
  return code === null || code === undefined ? error : Object.assign(error, { code });
}
