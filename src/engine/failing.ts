import type { TwsError } from '../errors.js';
import type { RunningAttempts } from './attempts/running-attempts.js';

/** How an engine stops by itself: `failed` resolves with the reason. */
export function createFailing(attempts: Pick<RunningAttempts, 'close'>) {
  let fail = (_reason: TwsError): void => undefined;
  const failed = new Promise<TwsError>((resolve) => {
    fail = (reason) => (attempts.close(), resolve(reason));
  });
  return { failed, fail };
}
