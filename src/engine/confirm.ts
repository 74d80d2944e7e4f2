import type { Job } from '../model/job.js';
import type { StoredDocument } from '../model/parse.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { LiveStep } from '../model/step.js';
import type { JobParts } from './jobs.js';

/** What became of a write. `lost`: somebody was faster, or it is not known to have taken place. */
export type Written =
  | { readonly kind: 'written'; readonly doc: StoredDocument }
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Writes a job. When the store does not say clearly that it did, the job is read back: our claims
 * in it, or the ends of `ended` that we wrote, tell that the write took place (E3).
 */
export async function writeOrConfirm(
  { store, retry, log, life }: Pick<JobParts, 'store' | 'retry' | 'log' | 'life'>,
  job: Job,
  claims: readonly LiveStep[],
  ended: readonly string[] = [],
): Promise<Written> {
  if (life.signal.aborted) return { kind: 'lost' };
  const result = await store.write(inReadingOrder(job as StoredDocument));
  switch (result.kind) {
    case 'written':
      return { kind: 'written', doc: { ...(job as StoredDocument), _rev: result.rev } };
    case 'conflict':
      return { kind: 'lost' };
    case 'refused':
      return result;
    case 'unknown': {
      log.debug({ job: job._id }, `Not known whether the job was stored: ${result.cause}`);
      if (claims.length === 0 && ended.length === 0) return { kind: 'lost' };
      const stored = await retry(() => store.get(job._id));
      return stored !== undefined && carries(stored, job, claims, ended)
        ? { kind: 'written', doc: stored }
        : { kind: 'lost' };
    }
  }
}

function carries(
  stored: StoredDocument,
  job: Job,
  claims: readonly LiveStep[],
  ended: readonly string[],
): boolean {
  const there = stepsByClaim(stored['steps']);
  const wanted = stepsByClaim((job as StoredDocument)['steps']);
  return (
    claims.every(({ claim }) => there.get(claim)?.['state'] === '$$active') &&
    ended.every((claim) => there.get(claim)?.['end'] === wanted.get(claim)?.['end'])
  );
}

function stepsByClaim(steps: unknown): ReadonlyMap<unknown, Readonly<Record<string, unknown>>> {
  const list = Array.isArray(steps) ? (steps as Readonly<Record<string, unknown>>[]) : [];
  return new Map(list.map((step) => [step['claim'], step]));
}
