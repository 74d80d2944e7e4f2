import type { EngineMeters } from '../meters.js';
import type { Jobs } from '../loop/jobs.js';
import type { Clock } from '../../clock/clock.js';
import type { Retry } from '../retry.js';
import type { Store } from '../../store/store.js';
import { createRates, type Rates } from './rates.js';

type Base = {
  readonly store: Store;
  readonly retry: Retry;
  readonly life: AbortController;
  readonly clock: Clock;
  readonly meters?: Partial<EngineMeters> | undefined;
};

/** What takes the grants of rate limits in an engine. */
export function createEngineRates(
  { store, retry, life, clock, meters }: Base,
  toJobs: () => Pick<Jobs, 'rouse'>,
  copies: () => number,
): Rates {
  return createRates({
    ...{ store, retry, copies, life: life.signal, now: clock.now, steady: clock.steady },
    wait: (ms) => clock.sleep(ms, life.signal),
    rest: (tries) => clock.sleep(Math.random() * 20 * Math.min(tries, 10), life.signal),
    rouse: (job) => toJobs().rouse(job),
    onGrants: (count) => meters?.grants?.(count),
    onWaiting: (count) => meters?.waiting?.('rate', count),
  });
}
