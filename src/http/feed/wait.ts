import type { StoredDocument } from '../../model/document.js';
import type { JobHub } from './hub.js';

type WaitOptions = {
  readonly hub: JobHub;
  readonly id: string;
  /** Reads the job as it is now. */
  readonly read: () => Promise<StoredDocument>;
  /** The same, after the wait: for whoever may still see it. */
  readonly readAgain: () => Promise<StoredDocument>;
  /** Whether it is as it is waited for. */
  readonly isReady: (job: StoredDocument) => boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

/** Waits until a job is ready, or the time is over, and answers it as it is then. */
export async function waitUntilReady(options: WaitOptions): Promise<StoredDocument> {
  const { hub, id, read, readAgain, isReady, waitMs, signal } = options;
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const leave = await hub.listen((change) => {
    if (change.kind === 'removed') {
      if (change.id === id) wake();
    } else if (change.job._id === id && isReady(change.job)) wake();
  });
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener('abort', wake, { once: true });
  try {
    const first = await read();
    if (isReady(first)) return first;
    await woken;
    return await readAgain();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    leave();
  }
}
