import { usualLeaseMs } from '../../src/model/engine.js';
import { usualSweepMs } from '../../src/engine/options.js';

/** What is simulated. */
export type Options = {
  readonly engines: number;
  /** New jobs in a second. */
  readonly rate: number;
  /** So long jobs are submitted. */
  readonly seconds: number;
  /** Steps of each job, one after the other. */
  readonly steps: number;
  /** Mean time of an attempt, ms: from half of it to one and a half. */
  readonly stepMs: number;
  /** Attempts that an engine runs at the same time. */
  readonly slots: number;
  /** Share of the engines that die at the same moment, when half of the jobs were submitted. */
  readonly dead: number;
  /** Documents that the store writes in a second. */
  readonly storeRate: number;
  /** Time of a request beside the work of the store, ms. */
  readonly latencyMs: number;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly sweepMs: number;
  readonly seed: number;
};

export const usualOptions: Options = {
  ...{ engines: 10, rate: 50, seconds: 20, steps: 3, stepMs: 100, slots: 10, dead: 0.1 },
  ...{ storeRate: 50_000, latencyMs: 6, seed: 1 },
  ...{ leaseMs: usualLeaseMs, renewMs: usualLeaseMs / 3, sweepMs: usualSweepMs },
};
