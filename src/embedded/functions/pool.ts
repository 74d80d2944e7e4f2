import { DEADLINE_MS, startMember, type CrewMember } from './crew-member.js';
import type { Program, RunResult, Task } from './program.js';

/** A function that loops holds one worker for the deadline: the others go on. */
const MAX_WORKERS = 8;
/** Workers beyond the first end after this time without work, ms. */
const IDLE_MS = 30_000;
/** Most functions are done long before another worker could have started, ms. */
const PATIENCE_MS = 50;

/** Runs functions of design documents away from the server's own thread. */
export type FunctionPool = {
  /** Calls the program once for each element of `calls`, each a JSON text of its arguments. */
  run(program: Program, calls: readonly string[]): Promise<RunResult>;
  /** One result per document: the JSON text of whether the selector matches. */
  select(selector: string, docs: readonly string[]): Promise<RunResult>;
  close(): Promise<void>;
};

type Waiting = { readonly task: Task; readonly done: (result: RunResult) => void };

/**
 * Makes the pool. The first worker starts with the first function, further ones when all have been
 * busy for a while. `deadlineMs`: what one call may take; default 5 s.
 */
export function createFunctionPool(deadlineMs = DEADLINE_MS): FunctionPool {
  const members = new Set<CrewMember>();
  const queue: Waiting[] = [];
  let growing: NodeJS.Timeout | undefined;
  let closing = false;

  const submit = (task: Task): Promise<RunResult> =>
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
    if (members.size === 0) grow();
    else growing ??= setTimeout(grow, PATIENCE_MS).unref();
  };
  const grow = (): void => {
    clearTimeout(growing);
    growing = undefined;
    if (closing || queue.length === 0) return;
    if (members.size < MAX_WORKERS) members.add(startMember(deadlineMs));
    dispatch();
  };
  const work = async (member: CrewMember, { task, done }: Waiting): Promise<void> => {
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

const SHUT_DOWN: RunResult = {
  results: [],
  failure: { kind: 'crash', message: 'the server is shutting down' },
};

/** An idle worker, best one that knows the program already. */
function choose(members: Set<CrewMember>, task: Task): CrewMember | undefined {
  for (const member of members) if (member.ended) members.delete(member);
  const idle = [...members].filter((member) => !member.busy);
  return idle.find((member) => member.knows(task)) ?? idle[0];
}

function sendHome(members: Set<CrewMember>, member: CrewMember): void {
  if (member.busy || members.size === 1 || !members.delete(member)) return;
  void member.end();
}
