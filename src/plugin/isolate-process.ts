import { captureConsole } from './console.js';
import { logMessage, makeCall } from './isolate-call.js';
import { failedMessage } from './isolate-failed.js';
import type { AnswerMessage, FromIsolate, ToIsolate } from './isolate-messages.js';
import { uncaught } from './outcome.js';

/* The start of a process that makes one call and is then ended by its parent. */
const aborting = new AbortController();
let plugin = '';
let folder: string | undefined;
let takeAnswer = (_answer: AnswerMessage): void => undefined;

const send = (message: FromIsolate): void => void process.send?.(message);
const fail = (thrown: unknown): void => send(failedMessage(uncaught(plugin, thrown, folder)));

// Secrets are hidden on the other side, as in every line that comes from here.
captureConsole(() => (message, data) => send(logMessage(message, data)));
process.on('message', (message: ToIsolate) => {
  if (message.type === 'abort')
    return aborting.abort(new DOMException(message.message, message.name));
  if (message.type === 'answer') return takeAnswer(message);
  plugin = message.call.name;
  folder = message.call.given.cwd;
  // A process cannot look whether something has come.
  const line = {
    ...{ send, hear: () => undefined, signal: aborting.signal },
    onAnswer: (take: typeof takeAnswer) => void (takeAnswer = take),
  };
  void makeCall(message.call, line).then(send);
});
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
// The engine is gone: nobody waits for the answer.
process.on('disconnect', () => process.exit(1));
