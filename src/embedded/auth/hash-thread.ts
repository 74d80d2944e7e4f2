/* The thread that hashes passwords: answers each `Hash` with its key. */
import { pbkdf2Sync } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

import type { Hash } from './hashing.js';

lowerPriority();
parentPort?.on('message', ({ password, salt, iterations, bytes, digest }: Hash) => {
  parentPort?.postMessage(pbkdf2Sync(password, salt, iterations, bytes, digest));
});

/**
 * On Linux a thread has a priority of its own. Not the lowest: on a machine without a free processor a
 * sign-in must end as well.
 */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Elsewhere a thread has the priority of its process.
  }
}
