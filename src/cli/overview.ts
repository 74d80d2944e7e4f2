import type { Client, JobCounts, Pulse } from '../client.js';
import { countInHand } from '../client-rules.js';
import type { StoredDocument } from '../model/document.js';
import type { Status } from '../model/status.js';
import { jobFacts } from './jobs.js';

/** How things stand in a database. Times in epoch ms. */
export type Overview = {
  readonly at: number;
  readonly counts: JobCounts;
  /** What ended within the last minutes, the oldest first; the last one is not over yet. */
  readonly minutes: readonly {
    readonly at: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly cancelled: number;
  }[];
  readonly engines: readonly EngineLoad[];
  /** Flows with the most jobs that have not ended. */
  readonly flows: readonly { readonly flow: string; readonly jobs: number }[];
  /** Jobs that wait longest for something to happen. */
  readonly waiting: readonly WaitingJob[];
  /** Only so many unfinished jobs were looked at for slots, flows and waiting ones; absent: all. */
  readonly looked_at?: number;
};

export type EngineLoad = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly state: string;
  readonly slots: number;
  readonly used: number;
  readonly since: number;
};

export type WaitingJob = {
  readonly id: string;
  readonly flow: string;
  readonly status: Status;
  /** Since when something last happened in it; absent: it has not begun. */
  readonly since?: number;
};

/** So many unfinished jobs are looked at. */
const mostJobs = 500;
const minutes = 15;
/** So many of each list are kept. */
const mostRows = 100;

/** Looks around once. `pulse` is kept over several looks: it tells living engines from dead ones. */
export async function lookAround(client: Client, pulse: Pulse): Promise<Overview> {
  const at = Date.now();
  const from = at - (minutes - 1) * 60_000;
  const [counts, spans, documents, { jobs, more }] = await Promise.all([
    client.count(),
    client.spans({ from, to: at, unit: 'minute' }),
    client.engines(),
    client.unfinished(mostJobs),
  ]);
  const inHand = countInHand(jobs);
  const alive = pulse.look(documents, at).filter((one) => one.alive);
  return {
    at,
    counts,
    minutes: spans.map(({ at: begun, succeeded, failed, cancelled }) => ({
      at: begun,
      succeeded,
      failed,
      cancelled,
    })),
    engines: alive.map(({ engine }) => ({
      id: engine._id,
      host: engine.host,
      pid: engine.pid,
      state: engine.state,
      slots: engine.slots,
      used: inHand.get(engine._id) ?? 0,
      since: engine.started,
    })),
    flows: flowsIn(jobs, at),
    waiting: waitingIn(jobs, at),
    ...(more ? { looked_at: mostJobs } : {}),
  };
}

function flowsIn(jobs: readonly StoredDocument[], now: number): Overview['flows'] {
  const counts = new Map<string, number>();
  for (const job of jobs) {
    const { key } = jobFacts(job, now);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .map(([flow, many]) => ({ flow, jobs: many }))
    .sort((a, b) => b.jobs - a.jobs || (a.flow < b.flow ? -1 : 1))
    .slice(0, mostRows);
}

/** Jobs in which nothing runs, those that have waited longest first. */
function waitingIn(jobs: readonly StoredDocument[], now: number): readonly WaitingJob[] {
  return jobs
    .map((job) => {
      const { id, key: flow, status } = jobFacts(job, now);
      const since = lastMoved(job);
      return { id, flow, status, ...(since === undefined ? {} : { since }) };
    })
    .filter(({ status }) => ['queued', 'waiting', 'paused'].includes(status))
    .sort((a, b) => (a.since ?? Infinity) - (b.since ?? Infinity) || (a.id < b.id ? -1 : 1))
    .slice(0, mostRows);
}

function lastMoved({ start, steps }: StoredDocument): number | undefined {
  const times = (Array.isArray(steps) ? (steps as unknown[]) : []).flatMap((step) => {
    const {
      accepted,
      start: began,
      end,
      since,
    } = (step ?? {}) as Readonly<Record<string, unknown>>;
    return [accepted, began, end, since];
  });
  const known = [start, ...times].filter((time): time is number => typeof time === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}
