import { Installation } from './installation.js';
import type { Options } from './options.js';

/** What a run has shown; times ms. */
export type Figures = {
  readonly engines: number;
  readonly rate: number;
  readonly jobs: number;
  readonly ended: number;
  readonly simulatedSeconds: number;
  readonly perEngineAndSecond: {
    readonly lines: number;
    readonly leaseLines: number;
    readonly bytes: number;
    readonly requests: number;
    readonly documentsRead: number;
    readonly leasesRead: number;
  };
  readonly documentsReadPerJob: number;
  readonly revisionsPerJob: number;
  readonly claims: number;
  readonly lostClaims: number;
  readonly sweeps: number;
  readonly storeUtilisation: number;
  /** Waits of new jobs for their first claim, by who was first in their order. */
  readonly begun: Readonly<Record<'byFirst' | 'firstFull' | 'firstDead', Times>>;
  readonly died: number;
  /** From the death of the engines until their attempts were begun by others. */
  readonly takenOver: Times;
  readonly wrong: readonly string[];
};

export type Times = {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
};

/** Jobs that have not ended so long after the last one was submitted do not end. */
const patienceMs = 300_000;

/** Simulates an installation and returns its figures; `wrong` tells what must not be. */
export async function simulateInstallation(options: Options): Promise<Figures> {
  const { rate, seconds, dead, renewMs } = options;
  const it = new Installation(options);
  const { clock, findings } = it;
  it.start();
  // Until engines know each other's pace: each has renewed its lease twice.
  const warm = clock.now() + 2.5 * renewMs;
  await clock.run(() => clock.now() >= warm);
  const before = snapshotOf(it);
  findings.reset();
  const total = Math.round(rate * seconds);
  const begun = clock.now();
  const submit = (n: number): void => {
    it.submit(`job-${n}`);
    if (n + 1 < total)
      clock.wait(begun + ((n + 1) * 1_000) / rate - clock.now(), () => submit(n + 1));
  };
  clock.wait(0, () => submit(0));
  if (dead > 0) clock.wait(seconds * 500, () => it.kill(dead));
  const end = begun + seconds * 1_000;
  await clock.run(() => clock.now() >= end);
  const after = snapshotOf(it);
  const lines = { ...findings.lines, bytes: findings.bytes };
  await clock.run(
    () => (findings.submitted === total && findings.open === 0) || clock.now() > end + patienceMs,
  );
  if (findings.open > 0) findings.wrong.push(`${findings.open} jobs have not ended.`);
  // Who lives reads what it may still be told.
  const rest = clock.now() + 3_000;
  await clock.run(() => clock.now() >= rest);
  return figuresOf(it, { before, after, lines, at: clock.now() - begun });
}

function snapshotOf({ store, engines }: Installation) {
  const { requests, reads, busyMs } = store;
  const leasesRead = engines.reduce((sum, engine) => sum + engine.leasesRead, 0);
  return { requests, reads, busyMs, leasesRead };
}

type Snapshot = ReturnType<typeof snapshotOf>;

type Measured = {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly lines: { readonly jobs: number; readonly leases: number; readonly bytes: number };
  readonly at: number;
};

function figuresOf(it: Installation, { before, after, lines, at }: Measured): Figures {
  const { options, findings, store } = it;
  const { engines, rate, seconds } = options;
  const each = (count: number): number => count / engines / seconds;
  const leasesRead = after.leasesRead - before.leasesRead;
  const lateLeases = snapshotOf(it).leasesRead - before.leasesRead;
  const timesOf = (which: (one: (typeof findings.begun)[number]) => boolean): Times =>
    times(findings.begun.filter(which).map(({ waitMs }) => waitMs));
  return {
    ...{ engines, rate, jobs: findings.submitted, ended: findings.ended },
    simulatedSeconds: at / 1_000,
    perEngineAndSecond: {
      lines: (lines.jobs + lines.leases) / seconds,
      leaseLines: lines.leases / seconds,
      bytes: lines.bytes / seconds,
      requests: each(after.requests - before.requests),
      documentsRead: each(after.reads - before.reads - leasesRead),
      leasesRead: each(leasesRead),
    },
    documentsReadPerJob: (store.reads - before.reads - lateLeases) / findings.submitted,
    revisionsPerJob: 1 + findings.revisions / findings.submitted,
    ...{ claims: findings.claims, lostClaims: findings.lostClaims, sweeps: it.sweeps },
    storeUtilisation: (after.busyMs - before.busyMs) / (seconds * 1_000),
    begun: {
      byFirst: timesOf(({ place }) => place === 0),
      firstFull: timesOf(({ place, afterDead }) => place > 0 && !afterDead),
      firstDead: timesOf(({ afterDead }) => afterDead),
    },
    died: findings.deaths.count,
    takenOver: times(findings.takenOver),
    wrong: findings.wrong,
  };
}

function times(all: readonly number[]): Times {
  const sorted = Float64Array.from(all).sort();
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
