import type { Say } from './figure.js';
import type { Options } from './options.js';
import type { BenchServer } from './server.js';

/** What a benchmark is given. */
export type Bench = {
  readonly server: BenchServer;
  readonly options: Options;
  readonly say: Say;
};

/** Epoch ms with fractions: processes of one machine can compare it. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();
