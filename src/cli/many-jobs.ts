import {
  everyJob,
  type Client,
  type JobSearch,
  type RequestDetails,
  type RequestedOne,
} from '../client.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { asVersion } from '../model/flow-versions.js';
import type { RequestAction } from '../model/request.js';
import { statusOf } from '../reading/status.js';
import { counted } from '../words.js';
import type { Io } from './io.js';
import { questions } from './prompt.js';
import { createRedraw } from './redraw.js';

/** Which jobs are asked for what. */
export type ManyJobs = {
  readonly action: RequestAction;
  readonly details: RequestDetails;
  readonly search: JobSearch;
  /** These jobs, as far as they are still like that, instead of all that are found. */
  readonly ids?: readonly string[];
  /** Which of the jobs that are found are meant; absent: all. */
  readonly isMeant?: (job: StoredDocument) => boolean;
  /** So many jobs at most; absent: all. */
  readonly limit?: number | undefined;
  /** Whether a person has to agree first. */
  readonly confirm: boolean;
};

/** Requests that are stored and waited for together. */
const together = 100;
/** So many refusals are told by themselves. */
const mostShown = 20;

/**
 * Asks the same of all jobs that are chosen, tells how far it is on stderr and what became of them at
 * the end. Interrupted it stops after the requests that are under way; repeated it goes on with those
 * that are left. Exit 1 when any job refused, 130 when it was interrupted.
 * @throws TwsError `confirmation_needed`
 */
export async function requestManyJobs(client: Client, many: ManyJobs, io: Io): Promise<number> {
  const { action } = many;
  const ids = many.ids ?? (await idsOf(client, many, io));
  if (ids.length === 0) {
    io.out('No job matches.');
    io.json([]);
    return 0;
  }
  if (many.confirm && !(await isConfirmed(action, ids.length, io))) return 1;
  const tally = createTally(action, ids.length, io);
  /** Nobody took the last ones in time: there is no engine, and no wait for the next ones. */
  let alone = false;
  for (let at = 0; at < ids.length && !io.stop.aborted; at += together) {
    const batch = ids.slice(at, at + together);
    const jobs = await stillThere(client, batch, many.search);
    const waiting = alone ? { waitMs: 0 } : { signal: io.stop };
    const results = await client.requestMany(jobs, action, { ...many.details, ...waiting });
    alone = results.length > 0 && results.every(({ kind }) => kind === 'stored');
    tally.add(results, batch.length - jobs.length);
  }
  return tally.end(io.stop.aborted);
}

async function idsOf(client: Client, many: ManyJobs, io: Io): Promise<readonly string[]> {
  const { search, limit = Infinity, isMeant = () => true } = many;
  const ids: string[] = [];
  for await (const job of everyJob(client, search)) {
    if (io.stop.aborted) throw problem('interrupted', {});
    if (isMeant(job)) ids.push(job._id);
    if (ids.length >= limit) break;
  }
  return ids;
}

/** Somebody else may have been faster: what is not in that status or of that version any more is left alone. */
async function stillThere(
  client: Client,
  ids: readonly string[],
  { status, version }: JobSearch,
): Promise<readonly StoredDocument[]> {
  const docs = await client.getMany(ids);
  const now = Date.now();
  const isStill = (job: StoredDocument): boolean =>
    (status?.includes(statusOf(job, now)) ?? true) &&
    (version === undefined || asVersion(job['flow_version']) === version);
  return ids.flatMap((id) => docs.get(id) ?? []).filter(isStill);
}

async function isConfirmed(action: RequestAction, count: number, io: Io): Promise<boolean> {
  const jobs = counted(count, 'job');
  if (!io.interactive) throw problem('many_unconfirmed', { action, count });
  const ask = await questions(io, `whether to ${action} ${jobs}`);
  return ask.confirm(`Really ${action} ${jobs}?`, false);
}

type Tally = {
  /** `gone`: so many had changed meanwhile. */
  readonly add: (results: readonly RequestedOne[], gone: number) => void;
  /** Tells what became of all; the answer is the exit status. */
  readonly end: (interrupted: boolean) => number;
};

function createTally(action: RequestAction, total: number, io: Io): Tally {
  const terminal = io.terminal('stderr');
  const redraw = terminal === undefined ? undefined : createRedraw(terminal);
  const all: RequestedOne[] = [];
  let gone = 0;
  let refused = 0;
  const count = (kind: RequestedOne['kind']): number =>
    all.reduce((sum, one) => sum + (one.kind === kind ? 1 : 0), 0);
  const draw = (): void => {
    const line = `${action}: ${all.length + gone} of ${counted(total, 'job')}`;
    if (redraw === undefined) io.say(line);
    else redraw.draw([line]);
  };
  draw();
  return {
    add: (results, left) => {
      redraw?.clear();
      for (const one of results) {
        all.push(one);
        if (one.kind !== 'refused') continue;
        refused += 1;
        if (refused <= mostShown) io.warn(one.problem.message);
      }
      gone += left;
      draw();
    },
    end: (interrupted) => {
      redraw?.clear();
      if (refused > mostShown) io.warn(`… and ${refused - mostShown} more refused.`);
      const open = total - all.length - gone;
      const parts = [
        `applied to ${counted(count('applied'), 'job')}`,
        ...(count('stored') === 0
          ? []
          : [`stored for ${count('stored')} (an engine will take it)`]),
        ...(refused === 0 ? [] : [`refused by ${refused}`]),
        ...(gone === 0 ? [] : [`${gone} had changed meanwhile`]),
      ];
      io.out(`${action}: ${parts.join(', ')}`);
      if (interrupted) {
        io.warn(
          `Interrupted: ${counted(open, 'job')} left. Repeat the command to go on with them.`,
        );
      }
      io.json(all.map(shown));
      return interrupted ? 130 : refused > 0 ? 1 : 0;
    },
  };
}

const shown = (one: RequestedOne): object =>
  one.kind === 'refused' ? { id: one.id, kind: one.kind, because: one.problem.message } : one;
