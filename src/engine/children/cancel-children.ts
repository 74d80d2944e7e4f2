import {
  cancelOf,
  leftBy,
  uncancelled,
  withUncancelled,
  type UncancelledChild,
} from '../../decide/finish/abandoned.js';
import type { GivenUp } from '../../decide/intent.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
import type { Store } from '../../store/store.js';
import type { LogOnce } from '../log.js';
import type { Retry } from '../retry.js';

export type CancelChildrenParts = {
  readonly store: Pick<Store, 'get' | 'write'>;
  readonly retry: Retry;
  readonly once: Pick<LogOnce, 'log'>;
};

/**
 * Cancels child jobs that nobody waits for (G1 to G3). Resolves when the cancel request to each of them is stored,
 * which is before the parent is written: an engine that dies in between leaves no child behind.
 * Resolves to the children whose cancel request the database refuses, to be recorded in the parent.
 */
export async function cancelChildren(
  { store, retry, once }: CancelChildrenParts,
  children: readonly GivenUp[] = [],
): Promise<readonly UncancelledChild[]> {
  const refused = await Promise.all(
    children.map(async (given) => {
      const because = await retry(() => requestCancel(store, given));
      if (because === undefined || because === '') return [];
      const message = `Job ${given.child} cannot be asked to cancel: ${because}`;
      once.log('error', given.child, message);
      return [uncancelled(given, because)];
    }),
  );
  return refused.flat();
}

/**
 * Cancels once more, after the parent was written, the children that were cancelled before: where there are several
 * copies, one may have had the child go on in between (H4). A child for which the parent waits again is
 * left alone.
 */
export async function cancelChildrenAgain(
  parts: CancelChildrenParts & { readonly replicas: { readonly many: boolean } },
  parent: string,
  children: readonly GivenUp[],
): Promise<void> {
  if (!parts.replicas.many) return;
  const newest = await parts.retry(() => parts.store.get(parent));
  const wanted = new Set(newest === undefined ? [] : leftBy(newest).map(({ child }) => child));
  await cancelChildren(
    parts,
    children.filter(({ child }) => !wanted.has(child)),
  );
}

/** Cancels child jobs; resolves to the parent as it is to be written then. */
export async function withChildrenCancelled<J extends Parameters<typeof withUncancelled>[0]>(
  parts: CancelChildrenParts & { readonly now: () => number },
  parent: J,
  children: readonly GivenUp[] | undefined,
): Promise<J> {
  return withUncancelled(parent, await cancelChildren(parts, children), parts.now());
}

/** All children of a job that cannot go on: those that its steps name, and those that name it. */
export async function childrenLeftBy(
  {
    store,
    retry,
  }: Pick<CancelChildrenParts, 'retry'> & {
    readonly store: Pick<Store, 'getMany' | 'view'>;
  },
  doc: StoredDocument,
): Promise<readonly GivenUp[]> {
  return leftBy(doc, await retry(() => childrenOf(store, doc._id)));
}

/** Number of rows, and of documents, that are read at a time. */
const pageSize = 500;

/** The unfinished jobs that name a job as their parent. */
async function childrenOf(
  store: Pick<Store, 'getMany' | 'view'>,
  job: string,
): Promise<readonly StoredDocument[]> {
  const children: StoredDocument[] = [];
  for (let after: string | undefined; ;) {
    // The row at which a page begins was read before, unless that child was removed meanwhile.
    const from = after === undefined ? {} : { startKeyDocId: after };
    const limit = after === undefined ? pageSize : pageSize + 1;
    const rows = await store.view('children', { startKey: job, endKey: job, limit, ...from });
    const open = rows.filter(({ id, value }) => id !== after && !isFinalState(value.state));
    const docs = open.length === 0 ? [] : await store.getMany(open.map(({ id }) => id));
    children.push(...docs.values());
    if (rows.length < limit) return children;
    after = rows.at(-1)?.id;
  }
}

/** Maximum number of other writes of the child against which a cancel is tried at once. */
const mostTries = 12;

/**
 * Stores what cancels a child; what was not acknowledged is stored again. Resolves to why the database
 * refuses it, else to an empty text.
 */
async function requestCancel(store: CancelChildrenParts['store'], given: GivenUp): Promise<string> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const cancel = cancelOf(given, await store.get(given.child));
    if (cancel.kind === 'none') return '';
    const result = await store.write(cancel.doc);
    switch (result.kind) {
      case 'written':
        return '';
      case 'refused':
        return result.reason;
      case 'unknown':
        throw new Error(result.cause);
      case 'conflict':
        if (cancel.kind === 'request') return '';
    }
  }
  throw new Error(`Job ${given.child} was changed ${mostTries} times meanwhile.`);
}
