import { parseArgs } from 'node:util';
import { runCase } from './run-case.js';
import { openStarter, type Started } from './server.js';
import { readSuite, type SuiteCase } from './suite.js';
import { tableOf, type Verdict } from './table.js';

const usage = `npm run ojs -- --suite PATH [--level N] [--test ID,ID…] [--times N] [--lanes N] [--couch URL | --url URL]

  --suite   a checkout of the conformance suite of the Open Job Spec; it is no part of this repository
  --lanes   so many cases at once, each on a server and a database of its own; 1
  --couch   a CouchDB, with name and password, instead of the embedded server
  --url     a server that runs already; it is not emptied between the cases
`;

/** Runs the public suite, each case on an empty database. Exit 0: all cases pass. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const cases = (await readSuite(asked.suite)).filter(asked.isWanted);
  const starter = asked.url === undefined ? await openStarter(asked.couch) : undefined;
  const runners = starter === undefined ? [givenRunner(String(asked.url))] : [];
  for (let lane = 0; starter !== undefined && lane < asked.lanes; lane += 1) {
    runners.push(freshRunner(await starter.start()));
  }
  let passed = true;
  try {
    for (let time = 0; time < asked.times; time += 1) {
      const verdicts = await runAll(cases, runners);
      process.stdout.write(`${tableOf(verdicts)}\n`);
      passed &&= verdicts.every(({ wrongs }) => wrongs.length === 0);
    }
  } finally {
    for (const runner of runners) await runner.close();
    await starter?.close();
  }
  return passed ? 0 : 1;
}

type Runner = {
  readonly case: (one: SuiteCase) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** Runs the cases, each runner one at a time. Answers in their order. */
async function runAll(
  cases: readonly SuiteCase[],
  runners: readonly Runner[],
): Promise<readonly Verdict[]> {
  const verdicts = new Map<SuiteCase, Verdict>();
  const left = [...cases];
  const lane = async (runner: Runner): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const wrongs = await runner.case(one);
      const word = wrongs.length === 0 ? 'ok    ' : 'FAILED';
      process.stderr.write(`${word} ${one.test_id} ${one.name}\n`);
      verdicts.set(one, { one, wrongs });
    }
  };
  await Promise.all(runners.map(lane));
  return cases.flatMap((one) => verdicts.get(one) ?? []);
}

/** Empties its database before each case. */
function freshRunner({ url, empty, close }: Started): Runner {
  return {
    case: async (one) => {
      await empty();
      return runCase(one, url);
    },
    close,
  };
}

function givenRunner(url: string): Runner {
  const bare = url.replace(/\/+$/, '');
  return { case: (one) => runCase(one, bare), close: () => Promise.resolve() };
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        suite: text,
        level: text,
        test: text,
        times: text,
        lanes: text,
        couch: text,
        url: text,
      },
    });
    const { suite, level, test, times = '1', lanes = '1', couch, url } = values;
    const ids = test?.split(',');
    if (suite === undefined || ![times, lanes].every((one) => /^[1-9]\d*$/.test(one)))
      return undefined;
    const isWanted = (one: SuiteCase): boolean =>
      (level === undefined || one.level === Number(level)) &&
      (ids === undefined || ids.some((id) => one.test_id.startsWith(id)));
    return { suite, times: Number(times), lanes: Number(lanes), couch, url, isWanted };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return undefined;
  }
}
