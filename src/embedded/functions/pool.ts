import { Worker } from 'node:worker_threads';

import type {
  Program,
  RunResult,
  Task,
  WorkerAnswer,
  WorkerRequest,
  WorkerSettings,
} from './program.js';

/** Time one call of a design-document function may take, ms; CouchDB's `os_process_timeout`. */
export const DEADLINE_MS = 5_000;
/** What a worker gets beyond the deadline to notice it by itself, ms. */
const GRACE_MS = 1_000;
const MEMORY_BYTES = 64 * 1024 * 1024;
/** A function that loops holds one worker for the deadline: the others go on. */
const MAX_WORKERS = 8;
/** Workers beyond the first end after this time without work, ms. */
const IDLE_MS = 30_000;

/** Runs functions of design documents away from the server's own thread. */
export type FunctionPool = {
  /** Calls the program once for each element of `calls`, each a JSON text of its arguments. */
  run(program: Program, calls: readonly string[]): Promise<RunResult>;
  /** One result per document: the JSON text of whether the selector matches. */
  select(selector: string, docs: readonly string[]): Promise<RunResult>;
  close(): Promise<void>;
};

type Job = { readonly id: number; readonly task: Task; readonly done: (result: RunResult) => void };

type Member = {
  readonly worker: Worker;
  readonly progress: Int32Array;
  /** Programs this worker has compiled. */
  readonly loaded: Set<string>;
  job: Job | undefined;
  watch: NodeJS.Timeout | undefined;
  idle: NodeJS.Timeout | undefined;
};

/** Starts the pool with one worker ready; more are started while all are busy. */
export function createFunctionPool(): FunctionPool {
  const members = new Set<Member>();
  const queue: Job[] = [];
  let jobs = 0;
  let closing = false;

  const start = (): Member => {
    const member = startWorker();
    members.add(member);
    member.worker.on('message', (answer: WorkerAnswer) => {
      if (member.job?.id === answer.job) finish(member, answer.result);
    });
    member.worker.on('error', (error) => crashed(member, error.message));
    member.worker.on('exit', () => crashed(member, 'the worker thread ended'));
    return member;
  };
  const crashed = (member: Member, message: string): void => {
    if (!members.delete(member)) return;
    finish(member, { results: [], failure: { kind: 'crash', message } });
  };
  const finish = (member: Member, result: RunResult): void => {
    clearInterval(member.watch);
    const job = member.job;
    member.job = undefined;
    job?.done(result);
    if (members.has(member)) rest(member);
    dispatch();
  };
  const rest = (member: Member): void => {
    member.idle = setTimeout(() => {
      if (member.job === undefined && members.size > 1) stop(member);
    }, IDLE_MS).unref();
  };
  const stop = (member: Member): void => {
    members.delete(member);
    void member.worker.terminate();
  };
  const dispatch = (): void => {
    for (let job = queue[0]; job !== undefined && !closing; job = queue[0]) {
      const member =
        choose(members, job.task) ?? (members.size < MAX_WORKERS ? start() : undefined);
      if (member === undefined) return;
      queue.shift();
      give(member, job, () => {
        stop(member);
        const message = `it ran longer than ${DEADLINE_MS / 1000} s and was stopped`;
        finish(member, { results: [], failure: { kind: 'timeout', message } });
      });
    }
  };
  const submit = (task: Task): Promise<RunResult> =>
    new Promise((done) => {
      if (closing)
        return done({ results: [], failure: { kind: 'crash', message: 'shutting down' } });
      jobs += 1;
      queue.push({ id: jobs, task, done });
      dispatch();
    });

  rest(start());
  return {
    run: (program, calls) => submit({ type: 'run', program, calls }),
    select: (selector, docs) => submit({ type: 'select', selector, docs }),
    async close() {
      closing = true;
      await Promise.all([...members].map((member) => member.worker.terminate()));
      for (const job of queue.splice(0)) {
        job.done({ results: [], failure: { kind: 'crash', message: 'shutting down' } });
      }
    },
  };
}

function startWorker(): Member {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const settings: WorkerSettings = { deadlineMs: DEADLINE_MS, memoryBytes: MEMORY_BYTES, progress };
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  return {
    worker,
    progress,
    loaded: new Set(),
    job: undefined,
    watch: undefined,
    idle: undefined,
  };
}

/** An idle worker, one that knows the program already if there is one. */
function choose(members: ReadonlySet<Member>, task: Task): Member | undefined {
  const idle = [...members].filter((member) => member.job === undefined);
  const known = idle.find((member) => task.type === 'run' && member.loaded.has(task.program.key));
  return known ?? idle[0];
}

/** Hands over the job and watches that the worker gets from call to call. */
function give(member: Member, job: Job, overdue: () => void): void {
  clearTimeout(member.idle);
  member.job = job;
  if (job.task.type === 'run') member.loaded.add(job.task.program.key);
  let seen = -1;
  let seenAt = Date.now();
  member.watch = setInterval(() => {
    const count = Atomics.load(member.progress, 0);
    if (count !== seen) {
      seen = count;
      seenAt = Date.now();
    } else if (Date.now() - seenAt > DEADLINE_MS + GRACE_MS) {
      clearInterval(member.watch);
      overdue();
    }
  }, 500);
  member.worker.postMessage({ job: job.id, task: job.task } satisfies WorkerRequest);
}
