import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { builtModule } from '../../package.js';

/** One PBKDF2 hash. `bytes`: length of the key; `digest`: `sha256` and the like. */
export type Hash = {
  readonly password: string;
  readonly salt: string;
  readonly iterations: number;
  readonly bytes: number;
  readonly digest: string;
};

/** The thread ends after so long without a hash, ms. */
const IDLE_MS = 30_000;

let last: Promise<unknown> = Promise.resolve();
let thread: Worker | undefined;
let ending: NodeJS.Timeout | undefined;

/**
 * Derives a key. A hash takes a quarter of a second of a processor by design: hashes are made one at a
 * time in a thread of low priority, so that they keep no write waiting.
 * @throws Error when the thread cannot start or the digest is unknown
 */
export function deriveKey(hash: Hash): Promise<Buffer> {
  const mine = last.then(() => deriveInThread(hash));
  last = mine.catch(() => undefined);
  return mine;
}

async function deriveInThread(hash: Hash): Promise<Buffer> {
  clearTimeout(ending);
  thread ??= new Worker(builtModule('embedded/auth/hash-thread'), { execArgv: [] });
  const worker = thread;
  worker.ref();
  try {
    worker.postMessage(hash);
    const [key] = (await once(worker, 'message')) as [Uint8Array];
    return Buffer.from(key);
  } catch (error) {
    thread = undefined;
    throw error;
  } finally {
    worker.unref();
    ending = setTimeout(() => {
      thread = undefined;
      void worker.terminate();
    }, IDLE_MS).unref();
  }
}
