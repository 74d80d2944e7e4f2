/* The thread that runs functions of design documents, and regular expressions of selectors. */
import { createLru } from '../../memo.js';
import { getQuickJS } from 'quickjs-emscripten';
import { parentPort, workerData } from 'node:worker_threads';

import { compileSelector } from '../mango/selector.js';
import type {
  CallResult,
  Program,
  RunResult,
  WorkerTask,
  WorkerAnswer,
  WorkerRequest,
  WorkerSettings,
} from './program.js';
import { openSandbox, type Sandbox } from './sandbox.js';

/** Each sandbox may hold its memory limit; those not used for longest go first. */
const MAX_SANDBOXES = 16;

const settings = workerData as WorkerSettings;
const sandboxes = createLru<Sandbox>(MAX_SANDBOXES, {
  dispose: (sandbox) => sandbox.dispose(),
});
const quickjs = await getQuickJS();

parentPort?.on('message', ({ job, task }: WorkerRequest) => {
  parentPort?.postMessage({ job, result: perform(task) } satisfies WorkerAnswer);
});

function perform(task: WorkerTask): RunResult {
  switch (task.type) {
    case 'run':
      return run(task.program, task.calls);
    case 'select':
      return select(task.selector, task.docs);
  }
}

function run(program: Program, calls: readonly string[]): RunResult {
  const sandbox = sandboxOf(program);
  if ('failure' in sandbox) return { results: [], failure: sandbox.failure };
  const results: CallResult[] = [];
  for (const call of calls) {
    const result = sandbox.call(call);
    if ('failure' in result) {
      sandboxes.delete(program.key);
      return { results, failure: result.failure };
    }
    results.push(result);
  }
  return { results };
}

function sandboxOf(program: Program): ReturnType<typeof openSandbox> {
  const known = sandboxes.get(program.key);
  const sandbox = known ?? openSandbox(quickjs, program, settings);
  if (!('failure' in sandbox)) sandboxes.set(program.key, sandbox);
  return sandbox;
}

function select(selector: string, docs: readonly string[]): RunResult {
  const matches = compileSelector(JSON.parse(selector));
  return {
    results: docs.map((doc) => {
      Atomics.add(settings.progress, 0, 1);
      return { ok: String(matches(JSON.parse(doc))) };
    }),
  };
}
