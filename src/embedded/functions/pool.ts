import { startMember, type CrewMember } from './crew-member.js';
import type { Program, RunResult, Task } from './program.js';

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

type Waiting = { readonly task: Task; readonly done: (result: RunResult) => void };

/** Starts the pool with one worker ready; more are started while all are busy. */
export function createFunctionPool(): FunctionPool {
  const members = new Set<CrewMember>([startMember()]);
  const queue: Waiting[] = [];
  let closing = false;

  const submit = (task: Task): Promise<RunResult> =>
    new Promise((done) => {
      queue.push({ task, done });
      dispatch();
    });
  const dispatch = (): void => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const member = closing ? undefined : choose(members, next.task);
      if (member === undefined && !closing) return;
      queue.shift();
      if (member === undefined) next.done(SHUT_DOWN);
      else void work(member, next);
    }
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

/** An idle worker, best one that knows the program already; a new one while there may be more. */
function choose(members: Set<CrewMember>, task: Task): CrewMember | undefined {
  for (const member of members) if (member.ended) members.delete(member);
  const idle = [...members].filter((member) => !member.busy);
  const chosen = idle.find((member) => member.knows(task)) ?? idle[0];
  if (chosen !== undefined || members.size >= MAX_WORKERS) return chosen;
  const started = startMember();
  members.add(started);
  return started;
}

function sendHome(members: Set<CrewMember>, member: CrewMember): void {
  if (member.busy || members.size === 1 || !members.delete(member)) return;
  void member.end();
}
