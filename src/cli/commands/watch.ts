import { createLru } from '../../memo.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isAway, openDatabase, readSteps, type Client } from '../../client.js';
import { summaryOf } from '../../client-rules.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { ownerOf } from '../../model/task.js';
import { createAbsence, type Absence } from '../absence.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, listFlag } from '../command.js';
import type { Io } from '../io.js';
import { progressText } from '../job-picture.js';
import { drawnView, lineView, type JobView } from '../job-view.js';
import { exitOf, jobFacts, stateLine } from '../jobs.js';
import { statusFlag } from '../job-search.js';
import { jobIdOf } from '../naming.js';
import { watchReasons } from '../reasons.js';
import { plain } from '../safe.js';

const flags = z.object({ flow: listFlag, status: statusFlag });

/** A server that keeps silent is noticed after three times of this, ms. */
const heartbeatMs = 3_000;

/** `tws watch`: one job to its end, whose exit it has; without one all changes of jobs. */
export const watch = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const [given] = args;
  if (given !== undefined && (said.flow !== undefined || said.status !== undefined)) {
    throw problem('usage', { reason: '--flow and --status choose among jobs; one was named.' });
  }
  const { client, close } = openDatabase(config);
  const { database, leaseMs } = config;
  try {
    if (given !== undefined) {
      return await watchOne(client, { id: await idOf(given, client, io), database, leaseMs }, io);
    }
    const owner = chosenOwner(config);
    return await watchAll(client, { ...said, owner, database }, io);
  } finally {
    await close();
  }
});

/** A database that is away right now will answer later: the word is taken for the id. */
async function idOf(given: string, client: Client, io: Io): Promise<string> {
  try {
    return await jobIdOf(given, client, io);
  } catch (error) {
    if (!isAway(error)) throw error;
    return given;
  }
}

type One = {
  readonly id: string;
  readonly database: string;
  readonly leaseMs: number | undefined;
};

async function watchOne(client: Client, { id, database, leaseMs }: One, io: Io): Promise<number> {
  const terminal = io.terminal('stdout');
  const view = terminal === undefined ? lineView(io) : drawnView(terminal, io);
  const away = createAbsence({ database, warn: view.warn }, io);
  const over = new AbortController();
  const signal = AbortSignal.any([io.stop, over.signal]);
  const { tell } = view;
  const reasons = watchReasons(client, { id, leaseMs, signal, isAway: away.now, tell });
  try {
    const onChange = (job: StoredDocument): void => {
      show(job, view, io);
      reasons.moved();
    };
    const job = await client.watch(id, { signal, onChange, onState: away.take, heartbeatMs });
    view.end();
    if (job !== undefined) return exitOf(job);
  } finally {
    view.end();
    away.end();
    over.abort();
    await reasons.ended;
  }
  if (io.stop.aborted) {
    io.say(`Job ${id} goes on; see \`tws watch ${id}\`.`);
    return 130;
  }
  throw problem('document_missing', { id });
}

function show(job: StoredDocument, view: JobView, io: Io): void {
  if (io.mode === 'json') io.jsonLine({ ...summaryOf(job, Date.now()), steps: readSteps(job) });
  else view.moved(job);
}

type All = {
  readonly flow?: readonly string[] | undefined;
  readonly status?: readonly string[] | undefined;
  readonly owner?: string | undefined;
  readonly database: string;
};

/** So many jobs are kept in mind, to tell each state of theirs once. */
const mostKnown = 10_000;

async function watchAll(client: Client, { database, ...wanted }: All, io: Io): Promise<number> {
  const away = createAbsence({ database, warn: io.warn }, io);
  const shown = createLru<string>(mostKnown);
  const since = await positionOf(client, away, io);
  if (since === undefined) return 130;
  io.say(`Watching ${watched(wanted)}; Ctrl-C ends it.`);
  const feed = client.follow({ since, signal: io.stop, onState: away.take, heartbeatMs });
  for await (const { doc } of feed) {
    if (doc?.['type'] !== 'job' || !isWanted(doc, wanted)) continue;
    if (io.mode === 'json') {
      io.jsonLine(summaryOf(doc, Date.now()));
      continue;
    }
    const progress = isLarge(doc) ? '' : progressText(doc);
    const flow = plain(jobFacts(doc, Date.now()).key);
    const line = `${flow}  ${plain(stateLine(doc, { ...io, style: (_, text) => text }))}`;
    const key = `${line}${progress}`;
    if (shown.get(doc._id) === key) continue;
    shown.set(doc._id, key);
    const time = io.style('dim', new Date().toISOString().slice(11, 23));
    const state = stateLine(doc, io, 'stdout');
    const more = progress === '' ? '' : io.style('dim', `, ${progress}`);
    io.out(`${time}  ${io.style('bold', flow)}  ${state}${more}`);
  }
  return 130;
}

/** Which jobs are watched, in words. */
function watched({ flow, status, owner }: Omit<All, 'database'>): string {
  const parts = [
    ...(flow === undefined
      ? []
      : [`of ${flow.length === 1 ? 'flow' : 'flows'} ${flow.join(', ')}`]),
    ...(owner === undefined ? [] : [`of owner ${owner}`]),
    ...(status === undefined ? [] : [`that are ${status.join(' or ')}`]),
  ];
  return parts.length === 0 ? 'all jobs' : `jobs ${parts.join(' ')}`;
}

/** How far it is would take longer to count than until its next change. */
function isLarge({ steps }: StoredDocument): boolean {
  return Array.isArray(steps) && steps.length > 2_000;
}

function isWanted(job: StoredDocument, { flow, status, owner }: Omit<All, 'database'>): boolean {
  if (flow !== undefined && !flow.some((called) => isOfFlow(job, called))) return false;
  if (owner !== undefined && owner !== ownerOf(job)) return false;
  return status === undefined || status.includes(summaryOf(job, Date.now()).status);
}

/** Whether a job is of the flow called `name` or `name::owner`. */
function isOfFlow(job: StoredDocument, called: string): boolean {
  const [name, owner] = called.split('::');
  return job['flow'] === name && (owner === undefined || owner === ownerOf(job));
}

/** Between two tries to find out where the feed is, ms. */
const retryMs = 1_000;

async function positionOf(client: Client, away: Absence, io: Io): Promise<string | undefined> {
  while (!io.stop.aborted) {
    try {
      const position = await client.position();
      away.take({ kind: 'following' });
      return position;
    } catch (error) {
      if (!isAway(error)) throw error;
      away.take({ kind: 'lost', cause: error.message });
      await sleep(retryMs, undefined, { signal: io.stop }).catch(() => undefined);
    }
  }
  return undefined;
}
