import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';

import { threadProcessorMs } from '../../processor-time.js';
import { HARNESS } from './harness.js';
import type { CallResult, Program, ProgramFailure, WorkerSettings } from './program.js';

/** The time of the processor is asked for no more often than this, ms. */
const shortestMs = 20;
/** Deep recursion must end as an error of the function, before the stack of the engine ends. */
const STACK_BYTES = 256 * 1024;

type Thrown = { readonly threw: { readonly name: string; readonly message: string } };
type Failed = { readonly failure: ProgramFailure };
type Outcome = { readonly value: QuickJSHandle } | Failed | Thrown;

/** One compiled program in an interpreter of its own: nothing of the host is reachable from it. */
export type Sandbox = {
  call(json: string): CallResult | { readonly failure: ProgramFailure };
  dispose(): void;
};

/** Compiles a program; a failure says what is wrong with the sources. */
export function openSandbox(
  quickjs: QuickJSWASMModule,
  program: Program,
  settings: WorkerSettings,
): Sandbox | Failed {
  const interpreter = openInterpreter(quickjs, settings);
  const { context, timed } = interpreter;
  const loaded = timed(() => load(context, program));
  if (!('value' in loaded)) {
    interpreter.dispose();
    if ('failure' in loaded) return loaded;
    const { name, message } = loaded.threw;
    return { failure: { kind: 'compile', message: `${name}: ${message}` } };
  }
  const entry = loaded.value;

  return {
    call(json) {
      const argument = context.newString(json);
      const outcome = timed(() => context.callFunction(entry, context.undefined, argument));
      argument.dispose();
      if (!('value' in outcome)) return outcome;
      const ok = context.getString(outcome.value);
      outcome.value.dispose();
      return { ok };
    },
    dispose() {
      entry.dispose();
      interpreter.dispose();
    },
  };
}

type Result = ReturnType<QuickJSContext['callFunction']>;

/** Defines the library and compiles the sources with it; the value is the function to call. */
function load(context: QuickJSContext, program: Program): Result {
  const harness = context.unwrapResult(context.evalCode(HARNESS, 'harness.js'));
  const given = [program.kind, JSON.stringify(program.sources), program.modules ?? ''].map((text) =>
    context.newString(text),
  );
  const result = context.callFunction(harness, context.undefined, ...given);
  for (const handle of [harness, ...given]) handle.dispose();
  return result;
}

type Interpreter = {
  readonly context: QuickJSContext;
  /** Runs something with the deadline, and tells errors of the function from ends of the program. */
  readonly timed: (run: () => Result) => Outcome;
  readonly dispose: () => void;
};

function openInterpreter(quickjs: QuickJSWASMModule, settings: WorkerSettings): Interpreter {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(settings.memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  const call = { began: 0, deadline: 0, isLate: false };
  // A busy machine is not the function's fault: what counts is the time of the processor.
  runtime.setInterruptHandler(() => {
    if (performance.now() <= call.deadline) return false;
    const leftMs = settings.deadlineMs - (threadProcessorMs() - call.began);
    call.isLate = leftMs <= 0;
    call.deadline = performance.now() + Math.max(leftMs, shortestMs);
    if (!call.isLate) Atomics.add(settings.progress, 0, 1);
    return call.isLate;
  });
  const context = runtime.newContext();

  return {
    context,
    timed(run) {
      Atomics.add(settings.progress, 0, 1);
      const deadline = performance.now() + settings.deadlineMs;
      Object.assign(call, { began: threadProcessorMs(), deadline, isLate: false });
      const result = run();
      if (result.error === undefined) return { value: result.value };
      const threw = describe(context, result.error);
      result.error.dispose();
      if (call.isLate)
        return { failure: { kind: 'timeout', message: tooSlow(settings.deadlineMs) } };
      if (threw.message === 'out of memory') {
        return { failure: { kind: 'memory', message: threw.message } };
      }
      return { threw };
    },
    dispose: () => {
      context.dispose();
      runtime.dispose();
    },
  };
}

const tooSlow = (deadlineMs: number): string =>
  `the function ran longer than ${deadlineMs / 1000} s; it is set aside until its design document changes`;

function describe(context: QuickJSContext, error: QuickJSHandle): Thrown['threw'] {
  const dumped: unknown = context.dump(error);
  if (typeof dumped === 'object' && dumped !== null) {
    const { name, message } = dumped as { name?: unknown; message?: unknown };
    if (typeof message === 'string') {
      return { name: typeof name === 'string' ? name : 'Error', message };
    }
    return { name: 'Error', message: JSON.stringify(dumped) };
  }
  return { name: 'Error', message: String(dumped) };
}
