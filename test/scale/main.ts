import { parseArgs } from 'node:util';
import { usualOptions, type Options } from './options.js';
import { simulateInstallation, type Figures, type Times } from './run.js';

const usage =
  'npm run simulate -- --engines 10,100,1000 --rate N[,N…] [--seconds S] [--steps N] [--step-ms MS] [--slots N] [--dead SHARE] [--store-rate N] [--seed N] [--json]';

/**
 * Simulates an installation for each number of engines and prints its figures. A rate belongs to each
 * number of engines; the last one counts for those after it. The exit status is 1 when something was
 * wrong.
 */
export async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === undefined) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const all: Figures[] = [];
  for (const options of asked.runs) {
    const began = performance.now();
    process.stderr.write(
      `${options.engines} engines, ${options.rate} jobs/s, seed ${options.seed}: `,
    );
    all.push(await simulateInstallation(options));
    const { rss } = process.memoryUsage();
    const tookS = ((performance.now() - began) / 1_000).toFixed(1);
    process.stderr.write(`${tookS} s, ${Math.round(rss / 1e6)} MB\n`);
  }
  process.stdout.write(`${asked.json ? JSON.stringify(all) : tableOf(all)}\n`);
  const wrong = all.flatMap((one) => one.wrong);
  for (const what of wrong.slice(0, 10)) process.stderr.write(`${what}\n`);
  return wrong.length === 0 ? 0 : 1;
}

const rows: readonly (readonly [string, (figures: Figures) => string])[] = [
  ['engines', ({ engines }) => String(engines)],
  ['jobs a second', ({ rate }) => String(rate)],
  ['jobs, ended', ({ jobs, ended }) => `${jobs}, ${ended}`],
  ['lines per engine and second', (it) => number(it.perEngineAndSecond.lines)],
  ['  of them leases', (it) => number(it.perEngineAndSecond.leaseLines)],
  ['kB of lines per engine and second', (it) => number(it.perEngineAndSecond.bytes / 1_000)],
  ['requests to read per engine and second', (it) => number(it.perEngineAndSecond.requests)],
  ['jobs read per engine and second', (it) => number(it.perEngineAndSecond.documentsRead)],
  ['leases read per engine and second', (it) => number(it.perEngineAndSecond.leasesRead)],
  ['jobs read by all engines, per job', (it) => number(it.documentsReadPerJob)],
  ['revisions per job', (it) => number(it.revisionsPerJob)],
  ['claims, lost', (it) => `${it.claims}, ${percent(it.lostClaims / it.claims)}`],
  ['store: share of its write rate', (it) => percent(it.storeUtilisation)],
  ['begun by the first engine, ms', (it) => shown(it.begun.byFirst)],
  ['begun when that one was full, ms', (it) => shown(it.begun.firstFull)],
  ['begun when that one was dead, ms', (it) => shown(it.begun.firstDead)],
  ['engines that died', ({ died }) => String(died)],
  ['attempts taken over, ms', (it) => shown(it.takenOver)],
  ['what must not be', ({ wrong }) => String(wrong.length)],
];

function tableOf(all: readonly Figures[]): string {
  const cells = rows.map(([title, of]) => [title, ...all.map(of)]);
  const widths = cells[0]?.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const padded = (cell: string, column: number): string => {
    const width = widths?.[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  const line = (row: readonly string[]): string => row.map(padded).join('  ');
  return `${cells.map(line).join('\n')}\n(times: p50 / p99 / max, and how many)`;
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function percent(share: number): string {
  return `${(100 * (share || 0)).toFixed(2)} %`;
}

function shown({ count, p50, p99, max }: Times): string {
  return count === 0 ? '-' : `${p50} / ${p99} / ${max} (${count})`;
}

function read(args: readonly string[]): { runs: readonly Options[]; json: boolean } | undefined {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...{ engines: text, rate: text, seconds: text, steps: text, 'step-ms': text, slots: text },
        ...{ dead: text, 'store-rate': text, seed: text },
        json: { type: 'boolean', default: false },
      },
    });
    const listOf = (given: string | undefined, usual: number): number[] =>
      (given ?? String(usual)).split(',').map(positive);
    const one = (given: string | undefined, usual: number): number =>
      listOf(given, usual)[0] as number;
    const rates = listOf(values.rate, usualOptions.rate);
    const { seconds, steps, stepMs, slots, dead, storeRate, seed } = usualOptions;
    const options = {
      ...usualOptions,
      seconds: one(values.seconds, seconds),
      steps: one(values.steps, steps),
      stepMs: one(values['step-ms'], stepMs),
      slots: one(values.slots, slots),
      dead: one(values.dead, dead),
      storeRate: one(values['store-rate'], storeRate),
      seed: one(values.seed, seed),
    };
    const runs = listOf(values.engines, usualOptions.engines).map((engines, i) => {
      return { ...options, engines, rate: rates[Math.min(i, rates.length - 1)] as number };
    });
    return { runs, json: values.json };
  } catch {
    return undefined;
  }
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new Error(text);
  return value;
}
