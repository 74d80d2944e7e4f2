import type { StoredDocument } from '../../src/model/document.js';
import { expectedOf, isSubmitted, rootOf } from './flows.js';
import type { Line } from './witness.js';

/**
 * What may be done to an engine. `kill`: SIGKILL; `force`: SIGTERM twice; `term`: SIGTERM; `stop`:
 * SIGSTOP, later SIGCONT; `silence`, `cut…`: what its proxy does; `outage`: the database was away.
 */
export type HarmKind =
  'kill' | 'force' | 'term' | 'stop' | 'silence' | 'cut' | 'cut-request' | 'cut-answer' | 'outage';

/** Times are of `moment`. */
export type Harm = { readonly kind: HarmKind; readonly from: number; to: number };

/** The life of one engine process. */
export type Life = {
  readonly number: number;
  readonly pid: number;
  readonly from: number;
  to: number;
  /** How wrong its clock was, ms. */
  readonly offMs: number;
  readonly harms: readonly Harm[];
  /** Its exit code, or the signal that ended it. */
  status?: number | string;
  /** It did not end when it was asked to. */
  hung?: boolean;
};

/** Everything there is to judge by. */
export type Evidence = {
  readonly submitted: readonly string[];
  /** All documents, with `_conflicts`. */
  readonly documents: readonly StoredDocument[];
  readonly lines: readonly Line[];
  readonly lives: readonly Life[];
  /** When the document of an engine was seen to move, by pid. */
  readonly beats: ReadonlyMap<number, readonly number[]>;
  readonly leaseMs: number;
};

/** Why an attempt was repeated. `silent`: its engine was too slow to renew its lease in time. */
export const reasons = ['kill', 'fence', 'outage', 'handback', 'silent'] as const;
export type Reason = (typeof reasons)[number];

export type Verdict = {
  /** Jobs that are not where they should be, each with what is known. */
  readonly lost: readonly string[];
  /** Claims whose plugin was called twice, and steps that completed twice. */
  readonly double: readonly string[];
  /** Contradictions between documents and witness. */
  readonly contradictions: readonly string[];
  /** Attempts that were repeated although nothing had happened to their engine. */
  readonly unexplained: readonly string[];
  /** Documents with conflicts left. */
  readonly conflicts: readonly string[];
  /** Engines that ended by themselves, or did not end when asked. */
  readonly crashes: readonly string[];
  /** Jobs that ended with exit 4: one of their steps was lost to `crashLimit` engines. */
  readonly givenUp: readonly string[];
  readonly repeated: Readonly<Record<Reason, number>>;
};

/**
 * Compares the documents with what the plugins told and with what was done to the engines.
 *
 * V1 Every submitted job is final: exit 0, or exit 4 when each of the lost attempts is explained.
 * V2 No claim is run twice, and none that is not in its job.
 * V3 Every completed step has a beginning and an effect of its claim, and no step completes twice.
 * V4 An attempt is repeated only when its engine died, was fenced, lost the database or handed it back.
 * V5 No document has conflicts; no engine ended that nobody had ended.
 * V6 Of every submitted job exactly the expected children were made, and its steps and those of its
 *    children completed exactly as often as they should, unless a job was given up.
 */
export function judge(evidence: Evidence): Verdict {
  const { submitted, documents, lives } = evidence;
  const byId = new Map(documents.map((doc) => [doc._id, doc]));
  const jobs = documents.filter(({ type }) => type === 'job').map(({ _id }) => _id);
  const all = [...new Set([...submitted, ...jobs])];
  const attempts = all.flatMap((id) => attemptsOf(byId.get(id)));
  const families = familiesOf(submitted, all, byId);
  const failed = attempts.filter(({ state }) => state !== '$$complete');
  const explained = failed.map((attempt) => ({ attempt, reason: reasonFor(attempt, evidence) }));
  const repeated = { kill: 0, fence: 0, outage: 0, handback: 0, silent: 0 };
  for (const { reason } of explained) if (reason !== undefined) repeated[reason] += 1;
  return {
    lost: [...all.flatMap((id) => lossOf(id, byId.get(id))), ...families.flatMap(missingIn)],
    double: [
      ...calledTwice(evidence.lines),
      ...completedTwice(attempts),
      ...families.flatMap(surplusIn),
    ],
    contradictions: contradictionsIn(attempts, evidence.lines),
    unexplained: explained
      .filter(({ reason }) => reason === undefined)
      .map(({ attempt }) => told(attempt)),
    conflicts: documents.filter((doc) => '_conflicts' in doc).map((doc) => doc._id),
    crashes: lives.flatMap(crashOf),
    givenUp: all.filter((id) => isGivenUp(byId.get(id))),
    repeated,
  };
}

/** A submitted job with all jobs that were made for it, and how many steps of task `witness` completed. */
type Family = {
  readonly id: string;
  readonly children: readonly string[];
  readonly completed: number;
};

/** Families in which something was given up are not counted: what was lost there is done again. */
function familiesOf(
  submitted: readonly string[],
  all: readonly string[],
  byId: ReadonlyMap<string, StoredDocument>,
): readonly Family[] {
  const membersOf = new Map<string, string[]>();
  for (const id of all) membersOf.set(rootOf(id), [...(membersOf.get(rootOf(id)) ?? []), id]);
  return submitted.flatMap((id) => {
    const members = membersOf.get(id) ?? [];
    if (!isSubmitted(id) || members.some((one) => isGivenUp(byId.get(one)))) return [];
    const steps = members.flatMap((one) => attemptsOf(byId.get(one)));
    const done = steps.filter(({ state, task }) => state === '$$complete' && task === 'witness');
    return [{ id, children: members.filter((one) => one !== id), completed: done.length }];
  });
}

function missingIn({ id, children, completed }: Family): readonly string[] {
  const expected = expectedOf(id);
  const missing = expected.children.filter((child) => !children.includes(`${id}${child}`));
  const few = completed < expected.witnessed;
  return [
    ...missing.map((child) => `${id}${child} was never made`),
    ...(few ? [`${id} has ${completed} of ${expected.witnessed} completed steps`] : []),
  ];
}

function surplusIn({ id, children, completed }: Family): readonly string[] {
  const expected = expectedOf(id);
  const surplus = children.filter((child) => !expected.children.includes(child.slice(id.length)));
  const many = completed > expected.witnessed;
  return [
    ...surplus.map((child) => `${child} is one job more than ${id} needs`),
    ...(many ? [`${id} has ${completed} completed steps, not ${expected.witnessed}`] : []),
  ];
}

/** Whether there is nothing to complain about. */
export function isClean(verdict: Verdict): boolean {
  const { lost, double, contradictions, unexplained, conflicts, crashes } = verdict;
  return [lost, double, contradictions, unexplained, conflicts, crashes].every(
    (list) => list.length === 0,
  );
}

type Attempt = {
  readonly job: string;
  readonly path: string;
  readonly task?: string;
  readonly attempt: number;
  readonly state: string;
  readonly engine: string;
  readonly pid: number;
  readonly claim: string;
  readonly failure?: { readonly name: string };
  readonly due?: number;
  /** When it was claimed, by the clock of its engine. */
  readonly accepted?: number;
};

function attemptsOf(job: StoredDocument | undefined): readonly Attempt[] {
  const steps = (job?.['steps'] ?? []) as readonly Omit<Attempt, 'job'>[];
  // What needed no engine has no claim, and no witness.
  return steps
    .filter(({ claim }) => claim !== undefined)
    .map((step) => ({ ...step, job: job?._id ?? '' }));
}

function told({ job, path, attempt, state, pid, claim, failure }: Attempt): string {
  const because = failure === undefined ? '' : ` ${failure.name}`;
  return `${job} step ${path} attempt ${attempt} (pid ${pid}, claim ${claim}) ${state}${because}`;
}

function lossOf(id: string, job: StoredDocument | undefined): readonly string[] {
  if (job === undefined) return [`${id} is not there`];
  const { state, exit, failure } = job;
  if (state === '$$complete' && (exit === 0 || isGivenUp(job))) return [];
  if (state === '$$complete')
    return [`${id} ended with exit ${String(exit)}: ${JSON.stringify(failure)}`];
  const last = attemptsOf(job).at(-1);
  const due = job['next_due'] ?? last?.due;
  const owner = last?.state === '$$active' ? `owner pid ${last.pid}` : 'no owner';
  const when = due === undefined ? 'no due time' : `due ${new Date(Number(due)).toISOString()}`;
  const step = last === undefined ? 'no step' : told(last);
  return [`${id} stays ${typeof state === 'string' ? state : 'new'}: ${owner}, ${when}; ${step}`];
}

/** The engine promises to end what only kills engines; whether they were killed is V4. */
function isGivenUp(job: StoredDocument | undefined): boolean {
  const { exit, failure } = (job ?? {}) as { exit?: unknown; failure?: { name?: unknown } };
  return exit === 4 && failure?.name === 'CrashLimit';
}

function calledTwice(lines: readonly Line[]): readonly string[] {
  const calls = countBy(lines.filter(({ what }) => what === 'begin'));
  return [...calls].flatMap(([claim, count]) =>
    count > 1 ? [`claim ${claim} was run ${count} times`] : [],
  );
}

function completedTwice(attempts: readonly Attempt[]): readonly string[] {
  const done = new Set<string>();
  return attempts.flatMap((attempt) => {
    if (attempt.state !== '$$complete') return [];
    const step = `${attempt.job} ${attempt.path}`;
    if (done.has(step)) return [`${told(attempt)} completed a second time`];
    done.add(step);
    return [];
  });
}

function contradictionsIn(attempts: readonly Attempt[], lines: readonly Line[]): readonly string[] {
  const byClaim = new Map(attempts.map((attempt) => [attempt.claim, attempt]));
  const effects = countBy(lines.filter(({ what }) => what === 'effect'));
  const begins = countBy(lines.filter(({ what }) => what === 'begin'));
  const unclaimed = lines.filter((line) => {
    const attempt = byClaim.get(line.claim);
    return attempt?.job !== line.job || attempt.path !== line.path || attempt.pid !== line.pid;
  });
  const unwitnessed = attempts.filter(({ state, claim }) => {
    return state === '$$complete' && (effects.get(claim) !== 1 || begins.get(claim) !== 1);
  });
  return [
    ...unclaimed.map(
      ({ what, job, path, claim, pid }) =>
        `${what} of ${job} step ${path} on pid ${pid}: its claim ${claim} is not in the job`,
    ),
    ...unwitnessed.map((attempt) => `${told(attempt)}: the plugin knows nothing of it`),
  ];
}

function countBy(lines: readonly Line[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { claim } of lines) counts.set(claim, (counts.get(claim) ?? 0) + 1);
  return counts;
}

function crashOf({ number, status, harms, hung }: Life): readonly string[] {
  if (hung === true) return [`engine ${number} did not end when asked`];
  const kinds = harms.map(({ kind }) => kind);
  const expected = kinds.flatMap((kind) => exitsAfter[kind] ?? []);
  return expected.includes(status ?? '') ? [] : [`engine ${number} ended by itself with ${status}`];
}

/** SIGTERM: it was asked before it had begun to listen, or when it had stopped listening. */
const exitsAfter: Readonly<Partial<Record<HarmKind, readonly (number | string)[]>>> = {
  kill: ['SIGKILL'],
  force: [0, 130, 'SIGTERM'],
  term: [0, 'SIGTERM'],
};

/** What harm a lost attempt is put down to, the most certain first. */
const byHarm: readonly (readonly [Reason, readonly HarmKind[]])[] = [
  ['kill', ['kill', 'force']],
  ['fence', ['stop', 'silence']],
  ['outage', ['outage', 'cut', 'cut-request', 'cut-answer']],
];

function reasonFor(attempt: Attempt, evidence: Evidence): Reason | undefined {
  const { failure, pid, claim, job, path } = attempt;
  if (failure?.name === 'Released') return 'handback';
  if (failure?.name !== 'EngineLost' && failure?.name !== 'CrashLimit') return undefined;
  const { lines, lives, beats, leaseMs } = evidence;
  const life = lives.find((candidate) => candidate.pid === pid);
  if (life === undefined) return undefined;
  const begins = lines.filter((line) => line.what === 'begin' && line.job === job);
  const called = begins.find((line) => line.claim === claim)?.at ?? life.from;
  // A lease counts from the claim on, which has to be confirmed among several copies before the call.
  const claimed = attempt.accepted === undefined ? called : attempt.accepted - life.offMs;
  const began = Math.min(called, claimed);
  const next = begins.find((line) => line.path === path && line.attempt > attempt.attempt);
  const until = next?.at ?? Infinity;
  const meets = (harm: Harm): boolean => harm.from <= until && harm.to + leaseMs >= began;
  for (const [reason, kinds] of byHarm) {
    if (life.harms.some((harm) => kinds.includes(harm.kind) && meets(harm))) return reason;
  }
  return wasSilent(beats.get(pid) ?? [], { began, until, leaseMs }) ? 'silent' : undefined;
}

type Span = { readonly began: number; readonly until: number; readonly leaseMs: number };

/** Whether an engine's document stood still for about a lease during an attempt. */
function wasSilent(beats: readonly number[], { began, until, leaseMs }: Span): boolean {
  const during = beats.filter((at) => at >= began - leaseMs && at <= until);
  const times = until === Infinity ? during : [...during, until];
  // What is seen of the gaps here is not exactly what the other engine saw.
  return times.some((at, i) => i > 0 && at - (times[i - 1] ?? at) > 0.7 * leaseMs);
}
