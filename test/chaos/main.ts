import { parseArgs } from 'node:util';
import { runChaos, type Report } from './run.js';
import { isClean, reasons } from './verdict.js';

const usage = `npm run chaos -- [--url URL] [--engines N] [--jobs N] [--kills N] [--seed N] [--keep]
                 [--nodes URL,URL,URL [--pids PID,PID,PID]] [--copies N]
  --url URL      a CouchDB with its admin's name and password; default: an embedded server
  --engines N    engine processes (4)
  --nodes URLs   the nodes of a cluster, each with its admin's name and password: engines connect to
                 them in turn, and they stand still now and then
  --pids PIDs    their processes, which are stopped then; without, the way to the node is silent
  --copies N     copies of each document
  --jobs N       jobs: plain ones, with children, with slices, with a decider (1000)
  --kills N      kills by SIGKILL; everything else comes in proportion (50)
  --seed N       the plan of an earlier run
  --keep         keeps logs, witness and database of a run that fails`;

/** The long form. Answers the exit status: 0 when nothing was lost, doubled or left unexplained. */
export async function main(args: readonly string[]): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`chaos: ${line}\n`);
  const asked = read(args);
  if (asked === undefined) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const { engines, jobs, kills, seed } = asked;
  say(`${engines} engines, ${jobs} jobs, ${kills} kills, seed ${seed}`);
  try {
    const report = await runChaos({ ...asked, say, signal: abort.signal });
    for (const line of describe(report)) say(line);
    process.stdout.write(`${lastLine(report)}\n`);
    if (isClean(report.verdict)) return 0;
    say(
      `replay: npm run chaos -- ${[...args, ...(args.includes('--seed') ? [] : ['--seed', String(seed)])].join(' ')}`,
    );
    return 1;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    say('ended by a signal; all processes are ended too');
    return 130;
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

/** `lost=0 double=0 stuck=0 repeated=12 kills=50 given_up=0` */
export function lastLine({ verdict, done }: Report): string {
  const repeated = reasons.reduce((sum, reason) => sum + verdict.repeated[reason], 0);
  const { lost, double, unexplained, givenUp } = verdict;
  const stuck = lost.filter((line) => line.includes(' stays ')).length;
  const figures = {
    lost: lost.length - stuck,
    double: double.length,
    stuck,
    repeated: repeated + unexplained.length,
    kills: done.get('kill') ?? 0,
    given_up: givenUp.length,
  };
  return Object.entries(figures)
    .map(([name, figure]) => `${name}=${figure}`)
    .join(' ');
}

/** What was done, why attempts were repeated, and everything that is wrong, a line each. */
export function describe({ verdict, done, processes, tookMs, kept }: Report): readonly string[] {
  const { repeated, lost, double, contradictions, unexplained, conflicts, crashes } = verdict;
  const counts = [...done].map(([deed, count]) => `${count} ${deed}`).join(', ');
  return [
    `done in ${Math.round(tookMs / 1_000)} s to ${processes} engine processes: ${counts}`,
    `repeated attempts: ${repeated.kill} of killed engines, ${repeated.fence} of engines that were ` +
      `stopped or cut off for longer than a lease, ${repeated.silent} of engines too slow to renew ` +
      `their lease, ${repeated.outage} by outages and broken connections, ` +
      `${repeated.handback} handed back, ${unexplained.length} not explained`,
    ...some('jobs given up, since one step had lost three engines', verdict.givenUp),
    ...some('LOST', lost),
    ...some('DOUBLE', double),
    ...some('CONTRADICTIONS between documents and witness', contradictions),
    ...some('REPEATED WITHOUT REASON', unexplained),
    ...some('CONFLICTS', conflicts),
    ...some('ENGINES THAT ENDED BY THEMSELVES, or did not end', crashes),
    ...(kept === undefined ? [] : [`kept: ${kept}`]),
  ];
}

/** The first of a list, one a line, below a title. */
function some(title: string, list: readonly string[]): readonly string[] {
  if (list.length === 0) return [];
  const more = list.length > 20 ? [`  … and ${list.length - 20} more`] : [];
  return [`${title}: ${list.length}`, ...list.slice(0, 20).map((line) => `  ${line}`), ...more];
}

function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        nodes: { type: 'string' },
        pids: { type: 'string' },
        copies: { type: 'string' },
        engines: { type: 'string', default: '4' },
        jobs: { type: 'string', default: '1000' },
        kills: { type: 'string', default: '50' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
        keep: { type: 'boolean', default: false },
      },
    });
    const { url, keep } = values;
    const nodes = values.nodes?.split(',');
    const pids = values.pids?.split(',').map(Number) ?? [];
    const copies = values.copies === undefined ? undefined : Number(values.copies);
    const [engines, jobs, kills, seed] = [
      values.engines,
      values.jobs,
      values.kills,
      values.seed,
    ].map(Number) as [number, number, number, number];
    const whole = [engines, jobs, kills, seed].every((count) => Number.isSafeInteger(count));
    if (!whole || engines < 1 || jobs < 1 || kills < 0) return undefined;
    return { url, nodes, pids, copies, keep, engines, jobs, kills, seed };
  } catch {
    return undefined;
  }
}
