import type { Store } from '../store/store.js';
import type { Log } from './log.js';
import type { Retry } from './patience.js';

/** The id of the request by which a parent gives a child job up. */
export function parentRequestId(child: string): string {
  return `request:${child}:parent`;
}

/**
 * Asks child jobs that their parent gives up to cancel, by a request document each. The requests
 * are stored before the parent is written, so that an engine that dies in between leaves no child
 * behind; one that is there already says the same. One that is not known to be stored is stored again.
 */
export async function cancelChildren(
  {
    store,
    retry,
    log,
  }: { readonly store: Pick<Store, 'write'>; readonly retry: Retry; readonly log: Log },
  parent: string,
  children: readonly string[] = [],
): Promise<void> {
  await Promise.all(
    children.map(async (job) => {
      const _id = parentRequestId(job);
      const reason = `its parent job ${parent} does not need it any more`;
      const result = await retry(async () => {
        const written = await store.write({ _id, type: 'request', job, action: 'cancel', reason });
        if (written.kind === 'unknown') throw new Error(written.cause);
        return written;
      });
      if (result?.kind === 'refused') {
        log.error({ job }, `Job ${job} cannot be asked to cancel: ${result.reason}`);
      }
    }),
  );
}
