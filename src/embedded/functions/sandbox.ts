import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';

import { HARNESS } from './harness.js';
import type { CallResult, Program, ProgramFailure, WorkerSettings } from './program.js';

/** Deep recursion must end as an error of the function, before the stack of the engine ends. */
const STACK_BYTES = 256 * 1024;

/** Compiling and defining the library is quick: this bounds sources that do work at load. */
type Outcome = { readonly value: QuickJSHandle } | { readonly failure: ProgramFailure } | Thrown;
type Thrown = { readonly threw: { readonly name: string; readonly message: string } };

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
): Sandbox | { readonly failure: ProgramFailure } {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(settings.memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  let deadline = 0;
  runtime.setInterruptHandler(() => performance.now() > deadline);
  const context = runtime.newContext();

  const timed = (run: () => ReturnType<QuickJSContext['callFunction']>): Outcome => {
    Atomics.add(settings.progress, 0, 1);
    deadline = performance.now() + settings.deadlineMs;
    const result = run();
    if (result.error === undefined) return { value: result.value };
    const late = performance.now() > deadline;
    const threw = describe(context, result.error);
    result.error.dispose();
    if (late) return { failure: { kind: 'timeout', message: tooSlow(settings.deadlineMs) } };
    if (/^out of memory|^stack overflow/.test(threw.message)) {
      return { failure: { kind: 'memory', message: threw.message } };
    }
    return { threw };
  };
  const dispose = (): void => {
    context.dispose();
    runtime.dispose();
  };
  const string = (text: string): QuickJSHandle => context.newString(text);

  const loaded = timed(() => {
    const load = context.unwrapResult(context.evalCode(HARNESS, 'harness.js'));
    const given = [program.kind, JSON.stringify(program.sources), program.modules ?? ''].map(
      string,
    );
    const result = context.callFunction(load, context.undefined, ...given);
    for (const handle of [load, ...given]) handle.dispose();
    return result;
  });
  if (!('value' in loaded)) {
    dispose();
    if ('failure' in loaded) return loaded;
    const { name, message } = loaded.threw;
    return { failure: { kind: 'compile', message: `${name}: ${message}` } };
  }
  const entry = loaded.value;

  return {
    call(json) {
      const argument = string(json);
      const outcome = timed(() => context.callFunction(entry, context.undefined, argument));
      argument.dispose();
      if (!('value' in outcome)) return outcome;
      const ok = context.getString(outcome.value);
      outcome.value.dispose();
      return { ok };
    },
    dispose() {
      entry.dispose();
      dispose();
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
