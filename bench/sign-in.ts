import { randomUUID } from 'node:crypto';
import { bulkSender } from '../src/store/batch.js';
import { credentialsOf, type Connection } from '../src/store/connection.js';
import { signInUser as signInTo } from '../src/store/sessions.js';
import type { Bench } from './bench.js';
import { percentile, sum } from './figure.js';
import { revisionsOf } from './project.js';

const guessers = 4;
const rounds = 4;
const writesInRound = 150;
/** Signing in takes a hash each time: the user's document changes in between. */
const signInsInRound = 3;

/** How much longer a write takes while guessers try passwords. Of the embedded server only. */
export async function signIn({ server, say }: Bench): Promise<void> {
  if (server.kind !== 'embedded') return;
  const connection = await server.database('project');
  const quiet: number[] = [];
  const guessed: number[] = [];
  const signedIn: number[] = [];
  let guesses = 0;
  let guessedMs = 0;
  await writes(connection);
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(...(await writes(connection)));
    const ending = new AbortController();
    const began = performance.now();
    const guessing = Promise.all(
      Array.from({ length: guessers }, () => guess(connection, ending.signal)),
    );
    guessed.push(...(await writes(connection)));
    signedIn.push(...(await signIns(connection)));
    guessedMs += performance.now() - began;
    ending.abort();
    guesses += sum(await guessing);
  }
  await server.remove(connection);

  const conditions = { guessers, rounds, writes: quiet.length };
  const mean = (values: readonly number[]): number => sum(values) / values.length;
  const figures = [
    ['write quiet p50', percentile(quiet, 0.5), 'ms'],
    ['write guessed p50', percentile(guessed, 0.5), 'ms'],
    ['ratio p50', percentile(guessed, 0.5) / percentile(quiet, 0.5), ''],
    ['ratio p95', percentile(guessed, 0.95) / percentile(quiet, 0.95), ''],
    ['ratio mean', mean(guessed) / mean(quiet), ''],
    ['guesses', (guesses / guessedMs) * 1000, '1/s'],
    ['sign-in p50', percentile(signedIn, 0.5), 'ms'],
  ] as const;
  for (const [figure, value, unit] of figures) say({ figure, value, unit, ...conditions });
}

/** The times of writes one after another, ms. */
async function writes(connection: Connection): Promise<readonly number[]> {
  const send = bulkSender(connection);
  const took: number[] = [];
  for (let n = 0; n < writesInRound; n += 1) {
    const began = performance.now();
    const doc = { _id: randomUUID(), type: 'job', flow: 'f', owner: 'bench' };
    if (revisionsOf(await send(JSON.stringify({ docs: [doc] }))).length !== 1) {
      throw new Error('A document was not written.');
    }
    took.push(performance.now() - began);
  }
  return took;
}

/** Tries passwords until the signal aborts; answers how many. */
async function guess(connection: Connection, signal: AbortSignal): Promise<number> {
  let tried = 0;
  while (!signal.aborted) {
    const found = await signInTo(connection, {
      name: 'nobody',
      password: String(tried),
      address: randomUUID(),
    });
    if (found.kind !== 'refused') throw new Error(`A guess was ${found.kind}.`);
    tried += 1;
  }
  return tried;
}

/** The times of a user's sign-ins with the right password, ms. */
async function signIns(connection: Connection): Promise<readonly number[]> {
  const took: number[] = [];
  for (let n = 0; n < signInsInRound; n += 1) {
    const name = `bench-${randomUUID()}`;
    const password = 'right';
    await fetch(`${connection.url}/_users/org.couchdb.user:${name}`, {
      method: 'PUT',
      headers: { ...credentialsOf(connection), 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'user', name, password, roles: [] }),
    });
    const began = performance.now();
    const { kind } = await signInTo(connection, { name, password, address: '127.0.0.1' });
    if (kind !== 'signed_in') throw new Error(`The user was ${kind}.`);
    took.push(performance.now() - began);
  }
  return took;
}
