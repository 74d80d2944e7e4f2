import type { EngineMeters } from '../meters.js';
import type { Jobs } from '../loop/jobs.js';
import { pause, type Retry } from '../retry.js';
import type { Store } from '../../store/store.js';
import { createRates, type Rates } from './rates.js';

type Base = {
  readonly store: Store;
  readonly retry: Retry;
  readonly life: AbortController;
  readonly now: () => number;
  readonly meters?: Partial<EngineMeters> | undefined;
};

/** What takes the grants of rate limits in an engine. */
export function createEngineRates(
  { store, retry, life, now, meters }: Base,
  toJobs: () => Pick<Jobs, 'rouse'>,
  copies: () => number,
): Rates {
  return createRates({
    ...{ store, retry, now, copies, life: life.signal },
    steady: () => performance.now(),
    wait: (ms) => pause(ms, life.signal),
    rest: (tries) => pause(Math.random() * 20 * Math.min(tries, 10), life.signal),
    rouse: (job) => toJobs().rouse(job),
    onGrants: (count) => meters?.grants?.(count),
    onWaiting: (count) => meters?.waiting?.('rate', count),
  });
}
