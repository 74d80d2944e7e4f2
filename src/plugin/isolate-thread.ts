import { setImmediate as turn } from 'node:timers/promises';
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { failedMessage, makeCall } from './isolate-call.js';
import type { Call, FinalMessage, ToIsolate } from './isolate-messages.js';
import { uncaught } from './outcome.js';

/** The call that this thread makes now; `broken`: something was thrown that nobody caught. */
type Current = {
  readonly call: Call;
  readonly end: (answer: FinalMessage) => void;
  broken: boolean;
};
let current: Current | undefined;

const fail = (thrown: unknown): void => {
  if (current === undefined) return process.exit(1);
  const { name, given } = current.call;
  current.broken = true;
  current.end(failedMessage(uncaught(name, thrown, given.cwd)));
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** What a pool has its threads do: one call, which comes over the port. */
export default async function serve({ port }: { readonly port: MessagePort }): Promise<void> {
  const aborting = new AbortController();
  const { call, take } = listen(port, aborting);
  const given = await call;
  let before = resources();
  const line = {
    send: (message: object) => port.postMessage(message),
    hear: () => {
      for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
        take(got.message as ToIsolate);
      }
    },
    signal: aborting.signal,
    ready: () => (before = resources()),
  };
  let end = (_answer: FinalMessage): void => undefined;
  const ended = new Promise<FinalMessage>((resolve) => (end = resolve));
  const mine: Current = { call: given, end, broken: false };
  current = mine;
  void makeCall(given, line).then(end);
  const answer = await ended;
  // What was thrown and not caught is told at the end of the turn.
  await turn();
  const left = mine.broken || isMore(resources(), before);
  port.postMessage({ ...answer, left });
  // What goes on here would disturb the next call: the thread is ended from outside.
  if (left) await new Promise(() => undefined);
  current = undefined;
  port.close();
}

/** Takes the call, and perhaps that it is to end, at whatever time. */
function listen(port: MessagePort, aborting: AbortController) {
  let begin = (_call: Call): void => undefined;
  const call = new Promise<Call>((resolve) => (begin = resolve));
  const take = (message: ToIsolate): void => {
    if (message.type === 'abort') aborting.abort();
    else begin(message.call);
  };
  port.on('message', take);
  return { call, take };
}

type Counts = ReadonlyMap<string, number>;

/** How many timers, sockets and the like keep this thread busy, by kind. */
function resources(): Counts {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function isMore(now: Counts, before: Counts): boolean {
  return [...now].some(([kind, count]) => count > (before.get(kind) ?? 0));
}
