import { problem } from '../errors.js';

/** The action that the first word of a command names. @throws TwsError `usage` */
export function actionOf<A extends string>(
  command: string,
  word: string,
  actions: readonly A[],
): A {
  const action = actions.find((one) => one === word);
  if (action !== undefined) return action;
  const reason = `There is no "tws ${command} ${word}"; it is one of ${actions.join(', ')}.`;
  throw problem('usage', { reason });
}
