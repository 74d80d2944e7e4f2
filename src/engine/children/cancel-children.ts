import { cancelOf, leftBy, untold, withUntold, type Untold } from '../../decide/abandoned.js';
import type { GivenUp } from '../../decide/intent.js';
import { isMadeBy } from '../../decide/parent.js';
import type { Job } from '../../model/job.js';
import { isFinalState, type StoredDocument } from '../../model/document.js';
import { inReadingOrder } from '../../model/reading-order.js';
import type { Store } from '../../store/store.js';
import type { Once } from '../events/log-once.js';
import type { Retry } from '../retry.js';

export type AbandonParts = {
  readonly store: Pick<Store, 'get' | 'write'>;
  readonly retry: Retry;
  readonly once: Pick<Once, 'tell'>;
};

/**
 * Gives up child jobs (G1 to G3). Resolves when the cancel request to each of them is stored,
 * which is before the parent is written: an engine that dies in between leaves no child behind.
 * Resolves to the children whose cancel request the database refuses, to be told in the parent.
 */
export async function giveUp(
  { store, retry, once }: AbandonParts,
  children: readonly GivenUp[] = [],
): Promise<readonly Untold[]> {
  const refused = await Promise.all(
    children.map(async (given) => {
      const because = await retry(() => tell(store, given));
      if (because === undefined || because === '') return [];
      const told = `Job ${given.child} cannot be asked to cancel: ${because}`;
      once.tell('error', given.child, told);
      return [untold(given, because)];
    }),
  );
  return refused.flat();
}

/**
 * Gives up once more, after the parent was written, what was given up before: where there are several
 * copies, one may have had the child go on in between (H4). A child for which the parent waits again is
 * left alone.
 */
export async function giveUpAgain(
  parts: AbandonParts & { readonly replicas: { readonly many: boolean } },
  parent: string,
  children: readonly GivenUp[] = [],
): Promise<void> {
  if (!parts.replicas.many || children.length === 0) return;
  const newest = await parts.retry(() => parts.store.get(parent));
  const wanted = new Set(newest === undefined ? [] : leftBy(newest).map(({ child }) => child));
  await giveUp(
    parts,
    children.filter(({ child }) => !wanted.has(child)),
  );
}

/** Gives up child jobs; resolves to the parent as it is to be written then. */
export async function givingUp<J extends Parameters<typeof withUntold>[0]>(
  parts: AbandonParts & { readonly now: () => number },
  parent: J,
  children: readonly GivenUp[] | undefined,
): Promise<J> {
  return withUntold(parent, await giveUp(parts, children), parts.now());
}

/** All children of a job that cannot go on: those that its steps name, and those that name it. */
export async function allLeftBy(
  {
    store,
    retry,
  }: Pick<AbandonParts, 'retry'> & {
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
    const from = after === undefined ? {} : { startKeyDocId: after, skip: 1 };
    const page = { startKey: job, endKey: job, limit: pageSize, ...from };
    const rows = await store.view('children', page);
    const open = rows.filter(({ value }) => !isFinalState(value.state)).map(({ id }) => id);
    if (open.length > 0) children.push(...(await store.getMany(open)).values());
    if (rows.length < pageSize) return children;
    after = rows.at(-1)?.id;
  }
}

/** Maximum number of other writes of the child against which a cancel is tried at once. */
const mostTries = 12;

/**
 * Stores what cancels a child; what was not acknowledged is stored again. Resolves to why the database
 * refuses it, else to an empty text.
 */
async function tell(store: AbandonParts['store'], given: GivenUp): Promise<string> {
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

/**
 * Puts on record in the parent that a child refuses the cancel request `id`. Other writes of the parent
 * are waited out; a parent that is gone, or that is not the one that made the child, is told nothing.
 */
export async function tellParent(
  { store, retry, once, now }: AbandonParts & { readonly now: () => number },
  child: Job,
  id: string,
  because: string,
): Promise<void> {
  const { job, step } =
    (child as { readonly parent?: { job?: unknown; step?: unknown } }).parent ?? {};
  if (typeof job !== 'string') return;
  const record: Untold = { child: child._id, step: String(step), id, because };
  await retry(async () => {
    const parent = await store.get(job);
    if (parent === undefined || !isMadeBy(child, parent)) return;
    const told = withUntold(parent, [record], now());
    if (told === parent) return;
    const { kind } = await store.write(inReadingOrder(told));
    if (kind === 'conflict' || kind === 'unknown')
      throw new Error(`Job ${job} was changed: ${kind}`);
    if (kind === 'refused')
      once.tell('error', job, `Job ${job} cannot be told about its child ${child._id}: ${because}`);
  });
}
