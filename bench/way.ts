import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProject } from './checkout.js';
import type { Submitter } from './ends.js';
import { percentile, sum, type Say } from './figure.js';
import { newJobs } from './project.js';
import type { Called } from './way-probe.js';

/** The first jobs find caches that are empty; the beats of the engine fall into some of the others. */
const warmUp = 20;
const jobs = 11;
/** An engine does nothing any more for a job that ended so long ago, ms. */
const restMs = 300;

type Counting = Pick<Submitter, 'run'> &
  Pick<RunningProject, 'counted'> & {
    readonly say: Say;
    /** Also says what is called in which file. */
    readonly isListed: boolean;
  };

/**
 * Counts what an engine calls for the plainest job, one step and nothing else to do: the named
 * functions of the product, from the job's appearance to its rest, and the files that they stand in.
 */
export async function countWay({ run, counted, say, isListed }: Counting): Promise<void> {
  if (counted === undefined) throw new Error('The calls of this engine are not counted.');
  const calls = async (): Promise<readonly Called[]> => {
    const answer = once(counted, 'message');
    counted.send('calls');
    return (await answer)[0] as readonly Called[];
  };
  const ways: (readonly Called[])[] = [];
  for (let n = 0; n < warmUp + jobs; n += 1) {
    await calls();
    await run(newJobs(1, 1));
    await sleep(restMs);
    if (n >= warmUp) ways.push(await calls());
  }
  ways.sort((a, b) => callsOf(a) - callsOf(b));
  const figures = { calls: ways.map(callsOf), files: ways.map((one) => filesOf(one).length) };
  for (const [unit, values] of Object.entries(figures)) {
    say({ figure: `${unit} of the plainest job`, value: percentile(values, 0.5), unit, jobs });
  }
  const usual = ways[Math.floor(ways.length / 2)] ?? [];
  if (!isListed) return;
  for (const file of filesOf(usual)) {
    const functions = usual.filter((one) => one.file === file);
    const value = callsOf(functions);
    const names = functions.map(({ name, count }) => (count > 1 ? `${name} ${count}x` : name));
    say({ figure: file, value, unit: 'calls', functions: names.join(', ') });
  }
}

function callsOf(called: readonly Called[]): number {
  return sum(called.map(({ count }) => count));
}

function filesOf(called: readonly Called[]): readonly string[] {
  return [...new Set(called.map(({ file }) => file))].sort();
}
