import { parseArgs } from 'node:util';
import type { Verdict } from './judge.js';
import { emptyTally, lastLine, tally, wrongs, type Tally } from './tally.js';
import { runSchedule, type ScheduleOptions } from './schedule.js';
import type { Confirms } from './worker.js';

const usage =
  'npm run schedules -- [--schedules N] [--engines 2,3] [--seed S] [--no-confirm claims|spawns] [--no-locks] [--trace]';
/** So many failures are told in full. */
const mostTold = 5;

/**
 * Runs schedules from seed to seed; progress goes to stderr, the last line to stdout. With `--seed`
 * and `--trace` one of them is told step by step. The exit status is 0 when nothing went wrong.
 */
export function main(args: readonly string[]): number {
  const asked = read(args);
  if (asked === undefined) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const { schedules, engines, seed, confirms, isLocking, trace } = asked;
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`${schedules} schedules from seed ${seed}`);
  const began = Date.now();
  let total: Tally = emptyTally;
  let told = 0;
  for (let i = 0; i < schedules; i += 1) {
    const own = { seed: seed + i, engines: engines[i % engines.length] as number };
    const options = { ...own, confirms, isLocking };
    const verdict = verdictOf(trace ? { ...options, trace: say } : options);
    total = tally(total, verdict);
    const wrong = wrongs(verdict);
    if (wrong.length > 0 && told < mostTold) {
      told += 1;
      say(`seed ${own.seed}, ${own.engines} engines: ${wrong.join(' ')}`);
      say(`  npm run schedules -- ${replay(options)}`);
    }
    if ((i + 1) % 10_000 === 0) say(`${i + 1} schedules in ${seconds(began)} s`);
  }
  process.stdout.write(`${lastLine(total)}\n`);
  return total.double + total.stuck + total.lost + total.unexplained === 0 ? 0 : 1;
}

/** A schedule that breaks off, by a revision that may not be or an exception of an engine, is a finding. */
function verdictOf(schedule: Parameters<typeof runSchedule>[0]): Verdict {
  try {
    return runSchedule(schedule);
  } catch (error) {
    const repeated = { retry: 0, lease: 0, released: 0 };
    const [why] = String((error as Error).stack).split('\n    at node:');
    return { double: [], lost: [], unexplained: [], stuck: [String(why)], starts: 0, repeated };
  }
}

function replay({ seed, engines, confirms, isLocking }: ScheduleOptions): string {
  const confirm = { all: '', claims: ' --no-confirm spawns', none: ' --no-confirm claims' }[
    confirms
  ];
  const locks = isLocking === false ? ' --no-locks' : '';
  return `--seed ${seed} --engines ${engines} --schedules 1${confirm}${locks} --trace`;
}

function seconds(since: number): string {
  return ((Date.now() - since) / 1_000).toFixed(1);
}

function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        schedules: { type: 'string', default: '100000' },
        engines: { type: 'string', default: '2,3' },
        seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1e9)) },
        'no-confirm': { type: 'string' },
        'no-locks': { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
      },
    });
    const engines = values.engines.split(',').map(Number);
    const [schedules, seed] = [Number(values.schedules), Number(values.seed)];
    const whole = [schedules, seed, ...engines].every((n) => Number.isSafeInteger(n) && n > 0);
    if (!whole) return undefined;
    const off = values['no-confirm'];
    const confirms: Confirms | undefined =
      off === undefined
        ? 'all'
        : off === 'spawns'
          ? 'claims'
          : off === 'claims'
            ? 'none'
            : undefined;
    if (confirms === undefined) return undefined;
    const isLocking = !values['no-locks'];
    return { schedules, seed, engines, confirms, isLocking, trace: values.trace };
  } catch {
    return undefined;
  }
}
