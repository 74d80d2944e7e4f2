import { z } from 'zod';
import { everyJob, openDatabase, type Client, type Migration } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { versionOf } from '../../model/flow-versions.js';
import { unfinishedStatuses } from '../../model/status.js';
import { counted } from '../../words.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import { defined, eachJob, type AppliedTo } from '../each-job.js';
import type { Io } from '../io.js';
import { searchFor } from '../job-search.js';
import { requestManyJobs } from '../many-jobs.js';
import { flowsCalled } from '../stored-flow.js';
import { tableLines } from '../table.js';

const flags = z.object({
  reason: z.string().optional(),
  by: z.string().optional(),
  to: z.string().min(1, { error: 'must be a version' }).optional(),
  dryRun: switchFlag,
  limit: numberFlag(1),
});

/** `tws migrate`: moves jobs that have not ended to another version of their flow. */
export const migrate = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const { to, dryRun, limit = Infinity, ...who } = said;
  const config = read();
  const { client, close } = openDatabase(config);
  try {
    const { jobs, isNamed } = await meantJobs(client, { words: args, limit, config }, io);
    const found = await client.migrations(jobs, to);
    if (dryRun) return showMigrations(found, io);
    const [only] = found;
    const details = { ...defined(who), ...(to === undefined ? {} : { to }) };
    if (isNamed && only !== undefined && found.length === 1) {
      if (only.can === 'stays') throw problem('job_stays', { reason: String(only.because) });
      if (only.can === 'there') return sayThere(only, io);
      const options = { ...details, signal: io.stop };
      const ask = (id: string) => client.request(id, 'migrate', options);
      return await eachJob([only.id], io, ask, movedFrom(only));
    }
    const ids = found.filter(({ can }) => can === 'moves').map(({ id }) => id);
    tellEffects(found, io);
    const left = tellLeft(found, io);
    const search = { status: unfinishedStatuses };
    const many = { action: 'migrate', details, search, ids, confirm: false } as const;
    return (await requestManyJobs(client, many, io)) || (left > 0 ? 1 : 0);
  } finally {
    await close();
  }
});

type Meant = { readonly words: readonly string[]; readonly limit: number; readonly config: Config };

/** The jobs of these ids, and all unfinished ones of these flows. `isNamed`: all are named by their ids. */
async function meantJobs(
  client: Client,
  { words, limit, config }: Meant,
  io: Io,
): Promise<{ readonly jobs: readonly StoredDocument[]; readonly isNamed: boolean }> {
  const docs = await client.getMany(words);
  const jobs = new Map<string, StoredDocument>();
  let isNamed = true;
  for (const word of new Set(words)) {
    const doc = docs.get(word);
    if (doc?.['type'] === 'job') {
      jobs.set(word, doc);
      continue;
    }
    isNamed = false;
    const flow =
      doc?.['type'] === 'flow' ? `${String(doc['name'])}::${String(doc['owner'])}` : word;
    const before = jobs.size;
    const search = searchFor({ flow, status: unfinishedStatuses }, config);
    for await (const job of everyJob(client, search)) {
      if (io.stop.aborted) throw problem('interrupted', {});
      if (jobs.size >= limit) break;
      jobs.set(job._id, job);
    }
    if (
      jobs.size === before &&
      doc === undefined &&
      (await flowsCalled(client, word)).length === 0
    ) {
      throw problem('document_missing', { id: word });
    }
  }
  return { jobs: [...jobs.values()].slice(0, limit), isNamed };
}

const head = ['JOB', 'FROM', 'TO', 'MOVES', 'WHY NOT, OR WHAT HAPPENS AT ONCE'];

/** Lists which jobs can move. Exit 1 when any cannot. */
function showMigrations(found: readonly Migration[], io: Io): number {
  const rows = found.map(({ id, from, to, can, because, effects = [] }) => [
    { text: id },
    { text: pointText(from) },
    { text: to === undefined ? '' : pointText(to) },
    { text: words[can], style: can === 'stays' ? ('red' as const) : ('green' as const) },
    { text: because ?? effects.join(' ') },
  ]);
  for (const line of tableLines(head, rows, io)) io.out(line);
  const count = (can: Migration['can']): number => found.filter((one) => one.can === can).length;
  const [moves, there, stays] = [count('moves'), count('there'), count('stays')];
  io.say(
    `${counted(moves, 'job')} can move, ${there} ${there === 1 ? 'is' : 'are'} there already, ${stays} cannot. Nothing was changed.`,
  );
  io.json(found);
  return stays > 0 ? 1 : 0;
}

const words = { moves: 'yes', there: 'there', stays: 'no' } as const;

/** `2 (3-abc…)`: the version, and which revision of its document. */
function pointText({ version, rev }: Migration['from']): string {
  const edition = rev === undefined ? '' : ` (${rev.slice(0, 8)})`;
  return `${version ?? '-'}${edition}`;
}

function sayThere(only: Migration, io: Io): number {
  io.out(`skipping: ${String(only.because)}`);
  io.json(only);
  return 0;
}

/** What is told of a job that has moved; the document tells where to. */
function movedFrom({ id, from, effects = [] }: Migration): AppliedTo {
  return (job) => {
    const version = versionOf({ version: job['flow_version'] });
    const rev = job['flow_rev'];
    const to = {
      ...(version === undefined ? {} : { version }),
      ...(typeof rev === 'string' ? { rev } : {}),
    };
    const moved = `moved: ${id} from ${pointText(from)} to ${pointText(to)}`;
    return {
      lines: [moved, ...effects.map((effect) => `  at once: ${effect}`)],
      json: { moved: { from, to }, effects },
    };
  };
}

/** Tells of jobs that move what ends or begins at once. */
function tellEffects(found: readonly Migration[], io: Io): void {
  const told = found.filter(({ can, effects = [] }) => can === 'moves' && effects.length > 0);
  for (const { id, effects = [] } of told.slice(0, mostTold)) {
    io.say(`at once, when ${id} moves: ${effects.join(' ')}`);
  }
  const more = told.length - mostTold;
  if (more > 0) io.say(`… and in ${more} more; --dry-run lists them.`);
}

/** So many reasons are told by themselves. */
const mostTold = 20;

/** Tells which jobs are left where they are; answers how many cannot move. */
function tellLeft(found: readonly Migration[], io: Io): number {
  const stays = found.filter(({ can }) => can === 'stays');
  for (const { because } of stays.slice(0, mostTold)) io.warn(String(because));
  if (stays.length > mostTold) io.warn(`… and ${stays.length - mostTold} more cannot move.`);
  const there = found.filter(({ can }) => can === 'there').length;
  if (there > 0) io.say(`${counted(there, 'job')} left out: there already.`);
  return stays.length;
}
