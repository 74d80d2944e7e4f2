import { stepOf, stepsIn, type LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { attachmentOf } from '../../src/model/big-result.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { isFailed, isLive, type LiveStep, type Step } from '../../src/model/step.js';
import type { Beliefs } from './beliefs.js';
import type { Message } from './messages.js';
import { allRefused, together, type Submitted } from './rivals.js';

/** The plugin of an attempt was called, upon this revision of the job. */
export type Start = {
  readonly step: LiveStep;
  readonly engine: string;
  readonly job: LeafRevision;
  readonly at: number;
};

/** What happened in a schedule. */
export type Account = {
  readonly starts: Start[];
  /** When the plugin of an attempt returned, by claim. */
  readonly returned: Map<string, number>;
  /** Ends that an engine was told are stored. */
  readonly settled: { readonly job: string; readonly claim: string; readonly outcome: Outcome }[];
};

/** Sentences, one for each thing that must not be; and how often attempts were repeated, why. */
export type Verdict = {
  readonly double: readonly string[];
  readonly lost: readonly string[];
  readonly unexplained: readonly string[];
  readonly stuck: readonly string[];
  readonly starts: number;
  readonly repeated: Readonly<Record<Reason, number>>;
};

/** Why a step was started again. */
export const reasons = ['retry', 'lease', 'released'] as const;
export type Reason = (typeof reasons)[number];

type Evidence = Account & {
  /** Engines that ended in order. */
  readonly stopped: ReadonlySet<string>;
  /** The leaves of every job in the end, by id. */
  readonly leaves: ReadonlyMap<string, readonly LeafRevision[]>;
  readonly isStuck: boolean;
  readonly beliefs: Beliefs;
  /** Requests and signals that were applied and removed. */
  readonly applied?: readonly Message[];
  /** The jobs of people, as they submitted them. */
  readonly submitted: readonly Submitted[];
};

/**
 * Judges a schedule.
 *
 * V1 No claim is started twice, and nothing is started while the revision that it is started upon
 *    does not tell the end of every attempt started before (a sequence runs one at a time; the
 *    steps of a parallel run beside each other, each of them alone), unless the engine of that
 *    attempt was believed dead before or came back without it: `double`. The same holds the other
 *    way round: for a start of such an engine that comes after its claim was taken from it, and
 *    after an attempt that repeated one which was only believed lost.
 * V2 No step is started again after an attempt of it completed: `double`.
 * V3 An end that an engine was told is stored is in the final job: `lost`.
 * V4 Whoever is called lost in a job was believed dead by somebody, or came back: `unexplained`.
 * V5 In the end the job is final and the only leaf of its document: `stuck`. So it is when the
 *    signal or the skip of a waiting step is lost.
 * V6 What an engine has applied and removed is on record in the final job, and a retry has had its
 *    effect: `lost`.
 * V7 Every job of which a step was started is the one that was submitted, or is named by a step or a
 *    problem of the job that made it: a child or a slice that nobody knows of was run beside another
 *    one, or in vain: `double`.
 * V8 A result that is kept as an attachment is there: `lost`.
 * V9 No step is started while one of a job runs that keeps its job away by target or locks, unless one
 *    of the two engines was believed dead before: `double`.
 * V10 Of the jobs that keep each other away not all are refused: `lost`.
 */
export function judge(evidence: Evidence): Verdict {
  const verdicts = [...evidence.leaves].map(([id, leaves]) =>
    judgeOne(ofJob(evidence, id, leaves)),
  );
  const all = <T>(list: (verdict: Verdict) => readonly T[]): readonly T[] => verdicts.flatMap(list);
  const sum = (count: (verdict: Verdict) => number): number =>
    verdicts.reduce((total, verdict) => total + count(verdict), 0);
  return {
    double: [...all(({ double }) => double), ...unnamed(evidence), ...together(evidence)],
    lost: [...all(({ lost }) => lost), ...allRefused(evidence)],
    unexplained: all(({ unexplained }) => unexplained),
    stuck: evidence.isStuck ? stuckOnes(evidence) : [],
    starts: evidence.starts.length,
    repeated: {
      retry: sum(({ repeated }) => repeated.retry),
      lease: sum(({ repeated }) => repeated.lease),
      released: sum(({ repeated }) => repeated.released),
    },
  };
}

function stuckOnes({ leaves }: Evidence): readonly string[] {
  const open = [...leaves].filter(([, [leaf, ...rivals]]) => {
    return rivals.length > 0 || !String(leaf?.['state']).match(/^\$\$(complete|cancelled)$/);
  });
  const told = open.map(
    ([id, [leaf, ...rivals]]) => `${id}: ${rivals.length + 1} leaves, ${String(leaf?.['state'])}`,
  );
  return told.length === 0 ? ['something is under way'] : told;
}

/** Jobs that were run and that nothing in their maker names. */
function unnamed({ starts, leaves }: Evidence): readonly string[] {
  const run = new Set(starts.map(({ job }) => job._id));
  return [...leaves].flatMap(([id, [leaf]]) => {
    const { parent, continued_from: from } = (leaf ?? {}) as Made;
    const maker = from ?? parent?.job;
    if (maker === undefined || !run.has(id)) return [];
    const [made] = leaves.get(maker) ?? [];
    return made !== undefined && names(made, id)
      ? []
      : [`${id} was run, and ${maker} does not say so.`];
  });
}

function names(maker: LeafRevision, child: string): boolean {
  const problems = (maker['problems'] ?? []) as readonly { readonly message: string }[];
  return (
    stepsIn(maker).some((step) => step['child'] === child) ||
    problems.some(({ message }) => message.includes(` job ${child} `))
  );
}

type Made = { readonly parent?: { readonly job: string }; readonly continued_from?: string };

/** What concerns one job. */
type Case = Omit<Evidence, 'leaves'> & { readonly leaves: readonly LeafRevision[] };

function ofJob(evidence: Evidence, id: string, leaves: readonly LeafRevision[]): Case {
  return {
    ...evidence,
    leaves,
    starts: evidence.starts.filter(({ job }) => job._id === id),
    settled: evidence.settled.filter(({ job }) => job === id),
    applied: (evidence.applied ?? []).filter(({ job }) => job === id),
  };
}

function judgeOne(evidence: Case): Verdict {
  const { starts } = evidence;
  const double: string[] = [];
  const repeated = { retry: 0, lease: 0, released: 0 };
  starts.forEach((start, i) => {
    for (const before of starts.slice(0, i)) {
      const found = compare(before, start, evidence);
      if (found.kind === 'double') double.push(found.what);
      if (found.kind === 'repeated') repeated[found.reason] += 1;
    }
  });
  return {
    double,
    lost: [...lostEnds(evidence), ...lostMessages(evidence), ...lostResults(evidence)],
    unexplained: calledLost(evidence),
    stuck: [],
    starts: starts.length,
    repeated,
  };
}

/** How one start stands to an earlier one. */
type Relation =
  | { readonly kind: 'fine' }
  | { readonly kind: 'repeated'; readonly reason: Reason }
  | { readonly kind: 'double'; readonly what: string };

function compare(before: Start, start: Start, { beliefs, stopped }: Case): Relation {
  const { claim, path } = before.step;
  const next = start.step.claim;
  if (claim === next) return { kind: 'double', what: `${claim} is started twice.` };
  const isSame = path === start.step.path;
  if (!isSame && parallelOf(path) === parallelOf(start.step.path)) return { kind: 'fine' };
  const repeated = (reason: Reason): Relation =>
    isSame ? { kind: 'repeated', reason } : { kind: 'fine' };
  const told = stepOf(start.job, claim);
  if (told === undefined || isLive(told)) {
    const isExplained =
      beliefs.wasDoubted(before.engine, start.at) ||
      wasTaken(start, before, beliefs) ||
      wasNeedless(before, start, beliefs);
    if (isExplained) return repeated('lease');
    const state = told === undefined ? 'is not in the job' : `is ${told.state}`;
    return { kind: 'double', what: `${next} is started while ${claim} ${state}.` };
  }
  if (isSame && told.state === '$$complete') {
    return { kind: 'double', what: `${next} repeats ${claim}, which completed.` };
  }
  if (isCalledLost(told)) return repeated('lease');
  if (!isFailed(told) || told.failure.name !== 'Released') return repeated('retry');
  if (stopped.has(before.engine)) return repeated('released');
  if (!isSame || beliefs.wasDoubted(before.engine, start.at)) return repeated('lease');
  return { kind: 'double', what: `${claim} was started and is called released.` };
}

/** The structure in which steps run beside each other; one that stands in none stands for itself. */
function parallelOf(path: string): string {
  return path
    .replace(/(\.(?:parallel|map))\.\d+$/, '$1')
    .replace(/\.(?:decision|activity|child|timer)\.[^.]+$/, '.decider');
}

function calledLost({ leaves, beliefs }: Case): readonly string[] {
  return leaves.flatMap(stepsIn).flatMap((step) => {
    const engine = String(step['engine']);
    if (!isCalledLost(step) || beliefs.wasDoubted(engine, Infinity)) return [];
    return [`${String(step['claim'])} is called lost, but its engine was not.`];
  });
}

/** The later start comes from an engine that was believed dead, and its claim was taken before. */
function wasTaken({ step, engine, at }: Start, before: Start, beliefs: Beliefs): boolean {
  const told = stepOf(before.job, step.claim);
  return told !== undefined && isFailed(told) && beliefs.wasDoubted(engine, at);
}

/** The earlier start repeated an attempt that was believed lost and has completed after all. */
function wasNeedless({ step, job, at }: Start, start: Start, beliefs: Beliefs): boolean {
  return stepsIn(start.job).some(({ path, state, claim, engine }) => {
    if (path !== step.path || state !== '$$complete') return false;
    const told = stepOf(job, claim);
    return told !== undefined && isFailed(told) && beliefs.wasDoubted(String(engine), at);
  });
}

function isCalledLost(step: Step): boolean {
  return isFailed(step) && step.failure.name === 'EngineLost';
}

function lostEnds({ settled, leaves: [leaf] }: Case): readonly string[] {
  return settled.flatMap(({ claim, outcome }) => {
    if (outcome.kind !== 'done' && outcome.kind !== 'failed') return [];
    const wanted = outcome.kind === 'done' ? '$$complete' : '$$error';
    const told = leaf === undefined ? [] : stepsIn(leaf).filter((step) => step['claim'] === claim);
    if (told.some(({ state }) => state === wanted) || isNoted(claim, leaf)) return [];
    return [`${claim} ended, but is ${String(told[0]?.state)} in the end.`];
  });
}

function lostMessages({ applied = [], leaves: [leaf] }: Case): readonly string[] {
  const idsIn = (key: string): readonly unknown[] =>
    ((leaf?.[key] ?? []) as readonly { readonly id: unknown }[]).map(({ id }) => id);
  const known = new Set([...idsIn('requests'), ...idsIn('signals')]);
  return applied.flatMap(({ id, asks }) => {
    if (!known.has(id)) return [`${id} (${asks}) was applied, but is not on record.`];
    if (asks !== 'retry') return [];
    // A job that had not begun a step begins from nothing, and counts its runs anew. Where two engines
    // had it begin, the record may be younger than the start; a later cancel ended it in any case.
    const isRetried =
      leaf?.['run'] !== 1 ||
      leaf['exit'] === 0 ||
      askedAt(id, leaf) < Number(leaf['start']) ||
      isCancelledAfter(askedAt(id, leaf), leaf);
    return isRetried ? [] : [`${id} (retry) is on record, but has had no effect.`];
  });
}

function lostResults({ leaves: [leaf] }: Case): readonly string[] {
  if (leaf === undefined) return [];
  const attached = (leaf['_attachments'] ?? {}) as Readonly<Record<string, unknown>>;
  return stepsIn(leaf).flatMap((step) => {
    const name = attachmentOf(step);
    return name === undefined || name in attached ? [] : [`The large result ${name} is gone.`];
  });
}

function isCancelledAfter(at: number, { requests }: LeafRevision): boolean {
  return (requests as readonly { readonly action: string; readonly at: number }[]).some(
    (one) => one.action === 'cancel' && one.at > at,
  );
}

function askedAt(id: string, { requests }: LeafRevision): number {
  const all = requests as readonly { readonly id: string; readonly at: number }[];
  return Number(all.find((record) => record.id === id)?.at);
}

/** A problem of the job tells that the attempt ran. */
function isNoted(claim: string, leaf: LeafRevision | undefined): boolean {
  const problems = (leaf?.['problems'] ?? []) as readonly { readonly message: string }[];
  return problems.some(({ message }) => message.includes(`claim ${claim})`));
}
