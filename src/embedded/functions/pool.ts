import { availableParallelism } from 'node:os';

import { DEADLINE_MS, startFunctionWorker, type FunctionWorker } from './function-worker.js';
import type { Program, RunResult, WorkerTask } from './program.js';

/** More than there are cores make nothing faster. */
const MAX_WORKERS = availableParallelism();
/** A function that loops holds its worker for the deadline: others take over for those, up to so many. */
const MAX_WITH_HELD = Math.max(8, MAX_WORKERS);
/** Workers beyond the first end after this time without work, ms. */
const IDLE_MS = 30_000;
/** Most functions are done long before another worker could have started, which takes as long, ms. */
const PATIENCE_MS = 200;
/** A call that takes longer holds its worker, ms. */
const HELD_MS = 500;

/** Runs functions of design documents away from the server's own thread. */
export type FunctionPool = {
  /** Calls the program once for each element of `calls`, each a JSON text of its arguments. */
  run(program: Program, calls: readonly string[]): Promise<RunResult>;
  /** One result per document: the JSON text of whether the selector matches. */
  select(selector: string, docs: readonly string[]): Promise<RunResult>;
  close(): Promise<void>;
};

type Waiting = { readonly task: WorkerTask; readonly done: (result: RunResult) => void };

/**
 * Makes the pool. The first worker starts with the first function, further ones when all have been
 * busy for a while, and no more than there are cores, but for those that are held by a long call. `deadlineMs`: what one call may take; default 5 s.
 */
export function createFunctionPool(deadlineMs = DEADLINE_MS): FunctionPool {
  const members = new Set<FunctionWorker>();
  const queue: Waiting[] = [];
  const seen: Seen = new WeakMap();
  let growing: NodeJS.Timeout | undefined;
  let closing = false;

  const submit = (task: WorkerTask): Promise<RunResult> =>
    new Promise((done) => {
      queue.push({ task, done });
      dispatch();
    });
  const dispatch = (): void => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const member = closing ? undefined : choose(members, next.task);
      if (member === undefined && !closing) return growLater();
      queue.shift();
      if (member === undefined) next.done(SHUT_DOWN);
      else void work(member, next);
    }
  };
  const growLater = (): void => {
    if (members.size === 0) return grow();
    if (growing !== undefined) return;
    growing = setTimeout(() => {
      growing = undefined;
      if (closing || queue.length === 0) return;
      const held = [...members].filter((member) => isHeld(member, seen)).length;
      // One that is starting will take what waits.
      const isStarting = [...members].some(({ calls }) => calls === 0);
      if (!isStarting && members.size < Math.min(MAX_WORKERS + held, MAX_WITH_HELD)) grow();
      else dispatch();
    }, PATIENCE_MS).unref();
  };
  const grow = (): void => {
    if (closing || queue.length === 0) return;
    members.add(startFunctionWorker(deadlineMs));
    dispatch();
  };
  const work = async (member: FunctionWorker, { task, done }: Waiting): Promise<void> => {
    done(await member.perform(task));
    if (member.ended) members.delete(member);
    else setTimeout(() => sendHome(members, member), IDLE_MS).unref();
    dispatch();
  };

  return {
    run: (program, calls) => submit({ type: 'run', program, calls }),
    select: (selector, docs) => submit({ type: 'select', selector, docs }),
    async close() {
      closing = true;
      await Promise.all([...members].map((member) => member.end()));
      dispatch();
    },
  };
}

/** The count of calls of each member when it last changed, and since when (ms). */
type Seen = WeakMap<FunctionWorker, { readonly calls: number; readonly since: number }>;

/** One call takes so long that others should not wait for its end. */
function isHeld(member: FunctionWorker, seen: Seen): boolean {
  const { calls } = member;
  const before = seen.get(member);
  if (before?.calls === calls) return calls > 0 && performance.now() - before.since > HELD_MS;
  seen.set(member, { calls, since: performance.now() });
  return false;
}

const SHUT_DOWN: RunResult = {
  results: [],
  failure: { kind: 'crash', message: 'the server is shutting down' },
};

/** An idle worker, best one that knows the program already. */
function choose(members: Set<FunctionWorker>, task: WorkerTask): FunctionWorker | undefined {
  for (const member of members) if (member.ended) members.delete(member);
  const idle = [...members].filter((member) => !member.busy);
  return idle.find((member) => member.knows(task)) ?? idle[0];
}

function sendHome(members: Set<FunctionWorker>, member: FunctionWorker): void {
  if (member.busy || members.size === 1 || !members.delete(member)) return;
  void member.end();
}
