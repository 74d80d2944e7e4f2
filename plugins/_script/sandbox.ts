import {
  getQuickJS,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
} from 'quickjs-emscripten';
import { pluginProblem, threadProcessorMs, type PluginError } from '../../src/plugin/index.js';
import { scriptHarness } from './harness.js';

/** How a script ended. */
export type ScriptEnd =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'detour'; readonly detour: string; readonly args: readonly unknown[] }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: ScriptError };

/** What a script threw. */
export type ScriptError = Readonly<Record<string, unknown>> & {
  readonly message: string;
  readonly line?: number;
};

export type Script = {
  readonly code: string;
  /** The names that it sees, with their values. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** Sources of its modules by name. */
  readonly modules: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  /** Time of the processor. */
  readonly timeMs: number;
};

/**
 * Answers a call of the script; what it throws is thrown in the script, which awaits what is a promise: `{answer}` or
 * `{failed}`, never rejected.
 */
export type Host = (name: string, args: readonly unknown[]) => unknown;

/** Deep recursion must end as an error of the script, before the stack of the engine ends. */
const stackBytes = 256 * 1024;
/** The result of a script, as JSON, characters. */
const longestResult = 1_000_000;
/** The time of the processor is asked for no more often than this, ms. */
const oftenMs = 20;

/**
 * Runs a script in an interpreter of its own, in this thread, until it has ended: nothing of the host is
 * reachable from it but `host`. @throws PluginError `ScriptTooLong`, `ScriptTooLarge`, `ScriptTooLoud`, `ScriptStuck`
 */
export async function runScript(script: Script, host: Host): Promise<ScriptEnd> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setMemoryLimit(script.memoryMb * 1024 * 1024);
  runtime.setMaxStackSize(stackBytes);
  const watch = timeWatch(script.timeMs);
  runtime.setInterruptHandler(watch.isLate);
  const context = runtime.newContext();
  const answers = openAnswers(context);
  try {
    const promise = begin(context, script, (name, args) => answers.asked(host(name, args)));
    const run = (): void => {
      const jobs = runtime.executePendingJobs();
      if (jobs.error !== undefined) throw endOf(context, jobs.error, script, watch.wasLate());
    };
    run();
    let state = context.getPromiseState(promise);
    while (state.type === 'pending' && !watch.wasLate() && (await answers.next())) {
      run();
      state = context.getPromiseState(promise);
    }
    if (state.type === 'rejected') throw endOf(context, state.error, script, watch.wasLate());
    // What was interrupted is never settled.
    if (watch.wasLate()) throw pluginProblem('ScriptTooLong', { ms: script.timeMs });
    if (state.type === 'pending') throw pluginProblem('ScriptStuck', {});
    const json = context.getString(state.value);
    state.value.dispose();
    promise.dispose();
    return ended(json, script);
  } finally {
    dispose(answers, context, runtime);
  }
}

function ended(json: string, script: Script): ScriptEnd {
  if (json.length > longestResult) {
    throw pluginProblem('ScriptTooLoud', {
      what: 'The result',
      most: `${longestResult} characters of JSON`,
    });
  }
  const end = JSON.parse(json) as ScriptEnd;
  if (end.kind === 'failed' && isMemory(end.error.message)) throw tooLarge(script);
  return end;
}

const isMemory = (message: string): boolean => message === 'out of memory';

const tooLarge = ({ memoryMb }: Script): PluginError =>
  pluginProblem('ScriptTooLarge', { mb: memoryMb });

/** Tells, often, whether the time is over. */
function timeWatch(mostMs: number) {
  const began = threadProcessorMs();
  let next = performance.now() + oftenMs;
  let late = false;
  return {
    wasLate: (): boolean => late,
    isLate: (): boolean => {
      if (late || performance.now() < next) return late;
      next = performance.now() + oftenMs;
      late = threadProcessorMs() - began > mostMs;
      return late;
    },
  };
}

/** What the script awaits of its host. */
function openAnswers(context: QuickJSContext) {
  const open = new Map<Promise<unknown>, QuickJSDeferredPromise>();
  return {
    /** What the script gets for the answer of the host. */
    asked: (answer: unknown): QuickJSHandle => {
      if (answer === undefined) return context.undefined;
      if (!(answer instanceof Promise)) return context.newString(JSON.stringify(answer));
      const deferred = context.newPromise();
      open.set(answer, deferred);
      return deferred.handle;
    },
    /** Waits until one is there and hands it over; false: there is none to wait for. */
    next: async (): Promise<boolean> => {
      if (open.size === 0) return false;
      const [answer, value] = await Promise.race(
        [...open.keys()].map(async (one) => [one, await one] as const),
      );
      const text = context.newString(JSON.stringify(value));
      open.get(answer)?.resolve(text);
      text.dispose();
      open.delete(answer);
      return true;
    },
    /** Nobody awaits what is still open. */
    dispose: (): void => {
      for (const deferred of open.values()) deferred.dispose();
    },
  };
}

type Answering = (name: string, args: readonly unknown[]) => QuickJSHandle;

/** Begins the script; the handle is the promise of how it ends. */
function begin(context: QuickJSContext, script: Script, host: Answering): QuickJSHandle {
  const harness = context.unwrapResult(context.evalCode(scriptHarness, 'harness.js'));
  const asked = context.newFunction('host', (name, args) => {
    return host(context.getString(name), JSON.parse(context.getString(args)) as unknown[]);
  });
  const run = context.unwrapResult(context.callFunction(harness, context.undefined, asked));
  const given = [script.code, JSON.stringify(script.globals), JSON.stringify(script.modules)];
  const handles = given.map((text) => context.newString(text));
  const called = context.callFunction(run, context.undefined, ...handles);
  for (const handle of [harness, asked, run, ...handles]) handle.dispose();
  return context.unwrapResult(called);
}

/** What ended the interpreter itself. */
function endOf(
  context: QuickJSContext,
  error: QuickJSHandle,
  script: Script,
  isLate: boolean,
): PluginError {
  const { message } = (context.dump(error) ?? {}) as { readonly message?: unknown };
  error.dispose();
  if (isLate) return pluginProblem('ScriptTooLong', { ms: script.timeMs });
  return isMemory(String(message))
    ? tooLarge(script)
    : pluginProblem('ScriptInvalid', { reason: String(message) });
}

/** An interpreter that was interrupted may keep what nobody frees: its memory goes with its thread. */
function dispose(...parts: readonly { readonly dispose: () => void }[]): void {
  try {
    for (const part of parts) part.dispose();
  } catch {
    // Nothing is left to do.
  }
}
