import { Worker } from 'node:worker_threads';

import { builtModule } from '../../package.js';
import type {
  ProgramFailure,
  RunResult,
  WorkerTask,
  WorkerAnswer,
  WorkerRequest,
  WorkerSettings,
} from './program.js';

/** Time one call of a design-document function may take, ms; CouchDB's `os_process_timeout`. */
export const DEADLINE_MS = 5_000;
/** What a worker gets beyond the deadline to notice it by itself, ms. */
const GRACE_MS = 1_000;
const WATCH_MS = 500;
const MEMORY_BYTES = 64 * 1024 * 1024;

/** One worker thread, which does one task at a time. */
export type FunctionWorker = {
  /** Never rejects: a worker that hangs is ended, and that is the result. */
  perform(task: WorkerTask): Promise<RunResult>;
  /** True when it has compiled the task's program before. */
  knows(task: WorkerTask): boolean;
  readonly busy: boolean;
  /** Counts the calls that it began; 0: it takes a task already, but its thread is still starting. */
  readonly calls: number;
  /** An ended worker takes no task any more. */
  readonly ended: boolean;
  end(): Promise<void>;
};

/** Starts a worker thread; it does not keep the process alive. `deadlineMs`: for each call. */
export function startFunctionWorker(deadlineMs: number): FunctionWorker {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const worker = startWorker({ deadlineMs, memoryBytes: MEMORY_BYTES, progress });
  const loaded = new Set<string>();
  let job = 0;
  let finish: ((result: RunResult) => void) | undefined;
  let ended = false;

  const fail = (kind: ProgramFailure['kind'], message: string): void => {
    ended = true;
    finish?.({ results: [], failure: { kind, message } });
  };
  worker.on('message', (answer: WorkerAnswer) => {
    if (answer.job === job) finish?.(answer.result);
  });
  worker.on('error', (error) => fail('crash', error.message));
  worker.on('exit', () => fail('crash', 'the worker thread ended'));

  return {
    get busy() {
      return finish !== undefined;
    },
    get ended() {
      return ended;
    },
    get calls() {
      return Atomics.load(progress, 0);
    },
    knows: (task) => task.type === 'run' && loaded.has(task.program.key),
    perform: (task) =>
      new Promise((resolve) => {
        const watch = watchProgress(progress, deadlineMs + GRACE_MS, () => {
          fail('timeout', `it ran longer than ${deadlineMs / 1000} s and was stopped`);
          void worker.terminate();
        });
        finish = (result) => {
          clearInterval(watch);
          finish = undefined;
          resolve(result);
        };
        if (task.type === 'run') loaded.add(task.program.key);
        job += 1;
        worker.postMessage({ job, task } satisfies WorkerRequest);
      }),
    end: async () => {
      await worker.terminate();
    },
  };
}

function startWorker(settings: WorkerSettings): Worker {
  const worker = new Worker(builtModule('embedded/functions/worker'), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  return worker;
}

/** Calls `stuck` when no new call begins for so long. */
function watchProgress(progress: Int32Array, ms: number, stuck: () => void): NodeJS.Timeout {
  let seen = -1;
  let seenAt = Date.now();
  const watch = setInterval(() => {
    const count = Atomics.load(progress, 0);
    if (count !== seen) {
      seen = count;
      seenAt = Date.now();
    } else if (Date.now() - seenAt > ms) {
      clearInterval(watch);
      stuck();
    }
  }, WATCH_MS);
  return watch;
}
