/* Runs the benchmarks: one line of JSON per figure on stdout, what goes on and what went wrong on stderr. */
import type { Bench } from './bench.js';
import { against } from './against.js';
import { claims } from './claims.js';
import { fair } from './fair.js';
import { feed } from './feed.js';
import { guard } from './guard.js';
import { hostile } from './hostile.js';
import { printer } from './figure.js';
import { latency } from './latency.js';
import { map } from './map.js';
import { help, readOptions, type BenchName, type Options } from './options.js';
import { ojs } from './ojs.js';
import { pages } from './pages.js';
import { openServer, type BenchServer } from './server.js';
import { signIn } from './sign-in.js';
import { product } from './product.js';
import { retention } from './retention.js';
import { sleeping } from './sleeping.js';
import { steps } from './steps.js';
import { timers } from './timers.js';
import { throughput } from './throughput.js';
import { winner } from './winner.js';

const benches: Readonly<Record<BenchName, (bench: Bench) => Promise<void>>> = {
  throughput,
  latency,
  claims,
  winner,
  feed,
  guard,
  steps,
  map,
  timers,
  fair,
  sleeping,
  retention,
  'sign-in': signIn,
  hostile,
  pages,
  ojs,
  product,
};

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === 'help') {
    process.stdout.write(help);
    return 0;
  }
  if (options.against !== undefined) {
    await against(options.against, options.times, forBoth(args));
    return 0;
  }
  const server = await openServer(options.url, options.storage);
  const interrupted = new Promise<number>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(130));
  });
  try {
    return await Promise.race([runAll(server, options), interrupted]);
  } finally {
    await server.close();
  }
}

/** The flags without those that only say what is compared. */
function forBoth(args: readonly string[]): readonly string[] {
  const own = ['--against', '--times'];
  return args.filter(
    (arg, i) =>
      !own.some((flag) => arg === flag || arg.startsWith(`${flag}=`) || args[i - 1] === flag),
  );
}

/** One that fails is told and does not keep the others from running. */
async function runAll(server: BenchServer, options: Options): Promise<number> {
  let exit = 0;
  for (const name of options.only) {
    const began = performance.now();
    try {
      await benches[name]({ server, options, say: printer(name, server.kind) });
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
      exit = 1;
    }
    process.stderr.write(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  }
  return exit;
}

main(process.argv.slice(2)).then(
  (exit) => process.exit(exit),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
