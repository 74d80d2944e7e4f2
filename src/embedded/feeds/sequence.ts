import { refuse } from '../http/couch-error.js';

/**
 * Sequences are opaque to clients, as CouchDB's are: a number that orders within one database,
 * and a token of the database, so that a sequence of an earlier database of that name starts over.
 */
export const formatSequence = (seq: number, instance: string): string =>
  `${seq}-g1AAAA${tokenOf(instance)}`;

/**
 * The number to go on from: 0 for the start, or what the sequence says.
 * @throws CouchError 400 for what is not a sequence
 */
export function parseSequence(given: string, instance: string): number {
  const text = given.replace(/^"(.*)"$/, '$1');
  const [, digits, token] = /^(\d{1,15})(?:-g1AAAA(.*))?$/.exec(text) ?? [];
  if (digits === undefined) {
    throw refuse.badRequest("Malformed sequence supplied in 'since' parameter.");
  }
  return token !== undefined && token !== tokenOf(instance) ? 0 : Number(digits);
}

const tokenOf = (instance: string): string => Buffer.from(instance).toString('base64url');
