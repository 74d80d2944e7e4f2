import type { Store } from '../store/store.js';
import type { Log } from './log.js';

/**
 * Asks child jobs that their parent gives up to cancel, by a request document each. The requests
 * are stored before the parent is written, so that an engine that dies in between leaves no child
 * behind; one that is there already says the same.
 */
export async function cancelChildren(
  { store, log }: { readonly store: Store; readonly log: Log },
  parent: string,
  children: readonly string[] = [],
): Promise<void> {
  await Promise.all(
    children.map(async (job) => {
      const _id = `request:${job}:parent`;
      const reason = `its parent job ${parent} does not need it any more`;
      const result = await store.write({ _id, type: 'request', job, action: 'cancel', reason });
      if (result.kind === 'refused') {
        log.error({ job }, `Job ${job} cannot be asked to cancel: ${result.reason}`);
      }
    }),
  );
}
