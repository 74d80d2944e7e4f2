import type { Connection } from './connection.js';
import { createPatience, openExchange } from './exchange.js';

/**
 * The time of the server of a connection (epoch ms, full seconds), as the `Date` of an answer says it, whatever it
 * answers; undefined: it does not tell, or does not answer.
 */
export async function readServerClock(connection: Connection): Promise<number | undefined> {
  const { send } = openExchange(connection);
  const answer = await send({ method: 'GET', path: '/', patience: createPatience() });
  const at = answer.kind === 'answered' ? Date.parse(answer.date ?? '') : NaN;
  return Number.isNaN(at) ? undefined : at;
}
