import { problem } from '../errors.js';
import { serverUrl, type Connection } from './connection.js';
import { createPatience, openExchange } from './exchange.js';

/** A server that is slow still tells its time: who did not wait for it would have to believe the own clock. */
const patienceMs = 30_000;

/**
 * The time of the server of a connection (epoch ms, full seconds), as the `Date` of an answer says it, whatever it
 * answers; undefined: it does not tell.
 * @throws TwsError `couch_unreachable`
 */
export async function readServerClock(connection: Connection): Promise<number | undefined> {
  const { send } = openExchange(connection);
  const answer = await send({ method: 'GET', path: '/', patience: createPatience(patienceMs) });
  if (answer.kind === 'failed') {
    throw problem('couch_unreachable', { url: serverUrl(connection), cause: answer.cause });
  }
  const at = Date.parse(answer.date ?? '');
  return Number.isNaN(at) ? undefined : at;
}
