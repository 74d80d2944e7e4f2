import {
  isEnding,
  mostDecisions,
  toDecisions,
  type Decision,
  type Ending,
} from '../model/decisions.js';
import type { LiveJob } from '../model/job.js';
import { isFailed, type Step } from '../model/step.js';
import { below, type Entry, type Leaf } from '../model/tree.js';
import { isBusyBelow, lastAttempt } from './attempts.js';
import { decisionMaker } from '../structures/paths.js';
import { without } from '../model/record.js';

/** What the recorded answers of a decider ask for, whatever has become of it. */
export type Asked = {
  /** In their order. */
  readonly answers: readonly DeciderAnswer[];
  /** Everything that they begin, by path. */
  readonly begun: ReadonlyMap<string, Leaf>;
  readonly ending?: Ending;
};

/** One answer. */
export type DeciderAnswer = {
  readonly step: Step;
  /** Paths of what it begins. */
  readonly begun: readonly string[];
  /** What it wanted to begin under ids that were taken, with the paths of what has them. */
  readonly taken: readonly { readonly id: string; readonly path: string }[];
  readonly cancels: readonly Cancel[];
};

/** `path`: that of what is to be cancelled; undefined: nothing of this id was begun. */
export type Cancel = { readonly id: string; readonly path: string | undefined };

/**
 * Most steps of a job change without any answer: all of them are read again only when there is one
 * more. Kept by the step of the last, as long as the job is in memory.
 */
const known = new WeakMap<Step, { readonly leaf: Leaf; readonly asked: Asked }>();

/** Reads the answers of the decider at a leaf. */
export function askedBy(job: LiveJob, leaf: Leaf): Asked {
  const steps = answeredSteps(job, leaf);
  const last = steps.at(-1);
  if (last === undefined) return readAll([], leaf);
  const before = known.get(last);
  if (before !== undefined && isSame(before.leaf, leaf) && areOf(before.asked, steps)) {
    return before.asked;
  }
  const asked = readAll(steps, leaf);
  known.set(last, { leaf, asked });
  return asked;
}

/** The path of decision `number` of a decider. */
export function decisionPath({ path }: Leaf, number: number): string {
  return below(path, `decision.${number}`);
}

/** How many decisions each decider has made, by its path, without those that count no more. */
export function countDecisions(job: LiveJob): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const step of job.steps) {
    const result = step['result'];
    if (typeof result !== 'object' || result === null) continue;
    const decider = decisionMaker(step.path);
    if (decider === step.path || lastAttempt(job, step.path) !== step) continue;
    const more = Array.isArray(result) ? result.length : 1;
    counts.set(decider, (counts.get(decider) ?? 0) + more);
  }
  return counts;
}

/** Whether something that a decider began has yet to begin, runs or waits, or is to be tried again. */
export function isUnderWay(job: LiveJob, path: string): boolean {
  const last = lastAttempt(job, path);
  if (last === undefined) return true;
  return isBusyBelow(job, path) || (isFailed(last) && last.due !== undefined);
}

function answeredSteps(job: LiveJob, leaf: Leaf): readonly Step[] {
  const steps: Step[] = [];
  for (;;) {
    const step = lastAttempt(job, decisionPath(leaf, steps.length));
    if (step?.state !== '$$complete') return steps;
    steps.push(step);
  }
}

function isSame(one: Leaf, other: Leaf): boolean {
  return one.path === other.path && one.index === other.index;
}

function areOf({ answers }: Asked, steps: readonly Step[]): boolean {
  return answers.length === steps.length && steps.every((step, i) => step === answers[i]?.step);
}

/**
 * Decisions beyond the limit are not read, because the job fails for them. A decider that has ended
 * is not held to the limit: all of its answers are read.
 */
function readAll(steps: readonly Step[], leaf: Leaf): Asked {
  const reading: Reading = { leaf, begun: new Map(), byName: new Map(), free: 0 };
  const all = steps.map((step) => ({ step, decisions: decisionsIn(step['result']) }));
  const hasEnded = all.some(({ decisions }) => decisions.some(isEnding));
  let left = hasEnded ? Infinity : mostDecisions;
  const answers = all.map(({ step, decisions }): DeciderAnswer => {
    left -= decisions.length;
    if (left < 0) return { step, begun: [], taken: [], cancels: [] };
    return { step, ...readAnswer(decisions, reading) };
  });
  const { begun, ending } = reading;
  return ending === undefined ? { answers, begun } : { answers, begun, ending };
}

function decisionsIn(result: unknown): readonly Decision[] {
  const answered = toDecisions(result);
  return answered.ok ? answered.decisions : [];
}

/** What the answers so far have begun. */
type Reading = {
  readonly leaf: Leaf;
  readonly begun: Map<string, Leaf>;
  /** By the id alone: its path. The first one counts where there are several. */
  readonly byName: Map<string, string>;
  /** No number below it is free for what was given no id. */
  free: number;
  ending?: Ending;
};

function readAnswer(decisions: readonly Decision[], reading: Reading): Omit<DeciderAnswer, 'step'> {
  const { leaf, begun, byName } = reading;
  const answer = {
    begun: [] as string[],
    taken: [] as { id: string; path: string }[],
    cancels: [] as Cancel[],
  };
  const beginnings = decisions.map(beginningOf);
  const beside = new Set(beginnings.map((beginning) => beginning?.id));
  for (const [i, decision] of decisions.entries()) {
    const beginning = beginnings[i];
    if (beginning !== undefined) {
      const id = beginning.id ?? freeNumber(reading, beside);
      const path = below(leaf.path, `${beginning.kind}.${id}`);
      if (begun.has(path)) {
        answer.taken.push({ id, path });
        continue;
      }
      answer.begun.push(path);
      begun.set(path, leafFor(leaf, path, beginning.entry));
      if (!byName.has(id)) byName.set(id, path);
    } else if ('cancel' in decision) {
      const id = String(decision.cancel);
      answer.cancels.push({ id, path: byName.get(id) });
    } else if (isEnding(decision)) {
      reading.ending ??= decision;
    }
  }
  return answer;
}

/**
 * An id for what was given none: no other has it, also none that the same answer names. What was not
 * free once never is again: in the end something has each of the ids of an answer.
 */
function freeNumber(reading: Reading, beside: ReadonlySet<string | undefined>): string {
  reading.free = Math.max(reading.free, reading.begun.size);
  const isTaken = (name: string): boolean => reading.byName.has(name) || beside.has(name);
  while (isTaken(String(reading.free))) reading.free += 1;
  return String(reading.free);
}

type Started = { readonly kind: string; readonly id?: string; readonly entry: Entry };

/** What a decision begins: its kind, its id and the entry it stands for. */
function beginningOf(one: Decision): Started | undefined {
  const id = typeof one['id'] === 'string' ? { id: one['id'] } : {};
  const params = 'params' in one ? { params: one['params'] as Entry['params'] } : {};
  if ('schedule' in one) {
    const { schedule, retry, timeout } = one as Extract<Decision, { schedule: unknown }>;
    const limits = {
      ...(retry === undefined ? {} : { retry }),
      ...(timeout === undefined ? {} : { timeout }),
    };
    return { kind: 'activity', ...id, entry: { task: schedule, ...params, ...limits } as Entry };
  }
  if ('start_child' in one) {
    const flow = String(one['start_child']);
    return { kind: 'child', ...id, entry: { task: flow, flow, ...params } as Entry };
  }
  if ('start_timer' in one) {
    const delay = one['start_timer'] as number | string;
    return { kind: 'timer', ...id, entry: { task: 'delay', delay } };
  }
  return undefined;
}

/** An entry that a decider began, or that it needs itself, at a path below it. */
export function leafFor(leaf: Leaf, path: string, entry: Entry): Leaf {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return { path, index: leaf.index, name, label: `${entry.task}-${leaf.index}`, entry };
}

/** The leaf of something below a decider: what a decision began, or a decision itself. */
export function leafBelow(job: LiveJob, decider: Leaf, path: string): Leaf | undefined {
  const number = /\.decision\.(\d+)$/.exec(path)?.[1];
  if (number !== undefined) return decisionLeaf(decider, Number(number));
  if (path === below(decider.path, 'continue')) return continueLeaf(decider);
  const made = /\.news\.(\d+)$/.exec(path)?.[1];
  if (made !== undefined) return newsLeaf(decider, Number(made));
  return askedBy(job, decider).begun.get(path);
}

/** The leaf of decision `number`: the conditions of a decider are asked before the first. */
export function decisionLeaf(leaf: Leaf, number: number): Leaf {
  const path = decisionPath(leaf, number);
  const entry = { ...leaf.entry, decides: leaf.path };
  return { ...leaf, path, entry: number === 0 ? entry : without(entry, 'when', 'guards') };
}

/** The leaf of the job as which one goes on anew. */
export function continueLeaf(leaf: Leaf): Leaf {
  return leafFor(leaf, below(leaf.path, 'continue'), { task: 'continue', continues: true });
}

/** The leaf in which a decider waits for a signal, after so many decisions. */
export function newsLeaf(leaf: Leaf, made: number): Leaf {
  const path = below(leaf.path, `news.${made}`);
  return { ...leafFor(leaf, path, { task: 'news', news: true }), name: leaf.name };
}
