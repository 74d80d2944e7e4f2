import fc from 'fast-check';
import { expect } from 'vitest';

/**
 * The seed of the run: a new one each time, which the configuration of the tests prints, unless
 * `TWS_SIMULATE_SEED` says which. `TWS_SIMULATE` says how many times as many cases a property draws; 0
 * draws none, so that coverage shows what the tables reach by themselves.
 */
export const gateSeed = Number(process.env['TWS_SIMULATE_SEED'] ?? 1);
const times = Number(process.env['TWS_SIMULATE'] ?? 1);
/** More is drawn than the gate has time for. */
export const isThorough = times > 1;

/** A failure ends with the command that replays it. */
function report<T>(details: fc.RunDetails<T>): void {
  if (!details.failed) return;
  const message = fc.defaultReportMessage(details) ?? 'The property does not hold.';
  throw new Error(`${message}\n\nReplay: ${replay()}`, { cause: details.errorInstance });
}

function replay(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const env = `TWS_SIMULATE_SEED=${gateSeed}${times === 1 ? '' : ` TWS_SIMULATE=${times}`}`;
  const name = currentTestName.replaceAll(/[^\w ]/g, '.');
  return `${env} npx vitest run --config .config/vitest.config.ts ${testPath} -t "${name}"`;
}

fc.configureGlobal({ seed: gateSeed, endOnFailure: times > 1, reporter: report });

/** So many runs of a property, or times as many in the long form. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: count * times });

/** Time limit of a test of many runs, ms. */
export const minutes = { timeout: 600_000 * Math.max(1, times) };
