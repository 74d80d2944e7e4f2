import fc from 'fast-check';

/**
 * Properties of every gate draw the same cases: what a change breaks is the change's fault. The long
 * form, `npm run simulate`, draws others: `TWS_SIMULATE_SEED` says which, `TWS_SIMULATE` how many times
 * as many. A failure tells its seed.
 */
const seed = Number(process.env['TWS_SIMULATE_SEED'] ?? 20_261_122);
const times = Number(process.env['TWS_SIMULATE'] ?? 1);

fc.configureGlobal({ seed, endOnFailure: times > 1 });

/** So many runs of a property, or times as many in the long form. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: count * times });

/** Time limit of a test of many runs, ms. */
export const minutes = { timeout: 600_000 * Math.max(1, times) };
