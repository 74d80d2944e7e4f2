import { setImmediate as turn } from 'node:timers/promises';
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { attributionOf, onBehalfOf, type Attribution } from './attribution.js';
import type { PluginContext } from './api.js';
import { captureConsole } from './console.js';
import { logMessage, makeCall } from './isolate-call.js';
import { failedMessage } from './isolate-failed.js';
import type { AnswerMessage, IsolateCall, FinalMessage, ToIsolate } from './isolate-messages.js';
import { uncaught, type Failed } from './outcome.js';

/** The call that this thread makes now. */
let current: Attribution | undefined;
/** The folder of the project. */
let folder: string | undefined;
/** Sends what is printed by `console` to where the call came from; between two calls nobody asks. */
let log: PluginContext['log'] | undefined;
/** Something was thrown that nobody caught: after the call, the thread is not used again. */
let isBroken = false;

const fail = (thrown: unknown): void => {
  const attribution = attributionOf(thrown) ?? current;
  // The module's own doing, between two calls: the next one begins in a fresh thread.
  if (attribution === undefined) return process.exit(1);
  isBroken = true;
  // What comes too late for its own call is no fault of the one that runs now.
  attribution.fail(uncaught(attribution.plugin, thrown, folder));
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
captureConsole(() => log);

/** What a pool has its threads do: one call, which comes over the port. */
export default async function serve({ port }: { readonly port: MessagePort }): Promise<void> {
  const aborting = new AbortController();
  const { call, take, onAnswer } = listen(port, aborting);
  const given = await call;
  folder = given.given.cwd;
  log = (message, data) => port.postMessage(logMessage(message, data));
  let before: Counts | undefined;
  const line = {
    send: (message: object) => port.postMessage(message),
    hear: () => {
      for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
        take(got.message as ToIsolate);
      }
    },
    signal: aborting.signal,
    onAnswer,
    ready: () => (before = resources()),
  };
  const answer = await new Promise<FinalMessage>((end) => {
    const { name: plugin, file } = given;
    const fail = (failed: Failed): boolean => {
      const wasRunning = current === own;
      // Only the first answer counts.
      end(failedMessage(failed));
      return wasRunning;
    };
    const own: Attribution = { plugin, file, about: {}, fail };
    current = own;
    void onBehalfOf(own, () => makeCall(given, line)).then(end);
  });
  // What was thrown and not caught is told at the end of the turn.
  await turn();
  // A module that could not be imported here never can: Node remembers how it failed.
  const left = isBroken || before === undefined || isMore(resources(), before);
  port.postMessage({ ...answer, left });
  // What goes on here would disturb the next call: the thread is ended from outside.
  if (left) await new Promise(() => undefined);
  current = undefined;
  log = undefined;
  port.close();
}

/** Takes the call, and perhaps that it is to end, at whatever time. */
function listen(port: MessagePort, aborting: AbortController) {
  let begin = (_call: IsolateCall): void => undefined;
  let answered = (_answer: AnswerMessage): void => undefined;
  const call = new Promise<IsolateCall>((resolve) => (begin = resolve));
  const take = (message: ToIsolate): void => {
    if (message.type === 'abort') aborting.abort(new DOMException(message.message, message.name));
    else if (message.type === 'answer') answered(message);
    else begin(message.call);
  };
  port.on('message', take);
  const onAnswer = (heard: typeof answered): void => void (answered = heard);
  return { call, take, onAnswer };
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
