import type { PluginContext } from './api.js';
import { PluginError } from './errors.js';
import { failedMessage } from './isolate-failed.js';
import type { AnswerMessage, AskMessage, FromIsolate } from './isolate-messages.js';
import { toFailed } from './outcome.js';
import type { AskSensitive } from './sensitive.js';

/** Questions of an isolated call that the other side answers. */
export type IsolateAsking = {
  readonly ask: AskSensitive;
  readonly take: (answer: AnswerMessage) => void;
};

/** The side on which the plugin runs. */
export function createAsking(send: (message: FromIsolate) => void): IsolateAsking {
  const open = new Map<number, (answer: AnswerMessage) => void>();
  let last = 0;
  return {
    ask: (names) =>
      new Promise((resolve, reject) => {
        last += 1;
        open.set(last, (answer) => {
          if (answer.failed === undefined) resolve(answer.values);
          else reject(new PluginError(answer.failed.message, answer.failed.details));
        });
        send({ type: 'ask', id: last, names });
      }),
    take: (answer) => {
      open.get(answer.id)?.(answer);
      open.delete(answer.id);
    },
  };
}

/** The side of the engine. Never rejects. */
export async function answerTo(
  { id, names }: AskMessage,
  context: PluginContext,
): Promise<AnswerMessage> {
  try {
    return { type: 'answer', id, values: await context.sensitive(...names) };
  } catch (thrown) {
    const { message, details } = failedMessage(toFailed(thrown, context.cwd));
    return { type: 'answer', id, values: {}, failed: { message, details } };
  }
}
