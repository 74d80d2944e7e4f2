import type { Ending } from '../model/decisions.js';
import type { LiveJob } from '../model/job.js';
import { isFailed, isOpen, type Phase, type Step } from '../model/step.js';
import { below, type Leaf, isWithin } from '../model/tree.js';
import { completionOn, lastAttempt } from './attempts.js';
import {
  askedBy,
  continueLeaf,
  decisionLeaf,
  decisionPath,
  isUnderWay,
  newsLeaf,
  type Asked,
} from './decider-answers.js';
import { leafProgress } from './entries.js';
import {
  done,
  noWork,
  open,
  workOf,
  type Progress,
  type View,
  type Work,
} from '../structures/progress.js';

/**
 * A decider reads what has happened and answers with decisions; what they begin runs beside each
 * other, below the path of the decider. One decision is open at a time: what happens meanwhile is in
 * the history of the next one. It ends with a decision to complete or to fail. When a decision leaves
 * nothing open, the decider waits for a signal, which is news for the next decision.
 *
 * Paths: `<p>.decision.<k>`, `<p>.activity.<id>`, `<p>.timer.<id>`, `<p>.child.<id>`, `<p>.news.<k>`,
 * `<p>.continue`.
 */
export function deciderProgress(
  job: LiveJob,
  leaf: Leaf,
  phase: Phase,
  view: View = 'now',
): Progress {
  const state = stateOf(job, leaf);
  const ended = { ...done, drop: [leaf.path] };
  if (lastAttempt(job, leaf.path)?.state === '$$skipped') return ended;
  const wanted = [...state.begun.values()].filter(({ path }) => !state.cancelled.has(path));
  const work = workOf(wanted.map((one) => quiet(leafProgress(job, one, phase, view))));
  const drops = { ...noWork, drop: [...state.cancelled] };
  if (state.ending !== undefined) {
    const rest = [...state.begun.keys(), below(leaf.path, 'news')];
    if ('complete' in state.ending) return { ...done, drop: rest };
    const again = leafProgress(job, continueLeaf(leaf), phase, view);
    return { ...again, drop: [...again.drop, ...rest] };
  }
  const decision = decisionProgress(job, leaf, { phase, view, state });
  if (decision.kind === 'done') return ended;
  const all = { ...decision, ...workOf([decision, work, drops]) };
  return isIdle(job, leaf, all)
    ? { ...open, begin: [{ leaf: newsLeaf(leaf, state.made), phase }] }
    : all;
}

/** Nothing is under way that could be news, and nothing can begin. */
function isIdle(job: LiveJob, { path }: Leaf, { kind, begin, conditions }: Progress): boolean {
  const isBusy = job.steps.some((step) => isOpen(step) && isWithin(step.path, path));
  return kind === 'open' && begin.length + conditions.length === 0 && !isBusy;
}

/** Failures of what a decider began are news for it, not for the flow. */
function quiet({ begin, conditions, drop }: Progress): Work {
  return { begin, conditions, drop };
}

type State = {
  /** Answers given so far. */
  readonly made: number;
  readonly begun: Asked['begun'];
  /** Paths of what was cancelled. */
  readonly cancelled: ReadonlySet<string>;
  /** What could not be done of a decision: the decider is told. */
  readonly refused: number;
  readonly ending?: Ending;
};

function stateOf(job: LiveJob, leaf: Leaf): State {
  const { answers, begun, ending } = askedBy(job, leaf);
  const cancelled = new Set<string>();
  let refused = 0;
  for (const { cancels } of answers) {
    for (const { path } of cancels) {
      const last = path === undefined ? undefined : lastAttempt(job, path);
      if (path === undefined || (last !== undefined && !isOpen(last))) refused += 1;
      if (path !== undefined) cancelled.add(path);
    }
  }
  // While what has a taken id is under way, the decider is told of it once: its end will be news.
  const refusedPaths = new Set<string>();
  for (const { path } of answers.flatMap(({ taken }) => taken)) {
    const isOpenStill = !cancelled.has(path) && isUnderWay(job, path);
    if (!isOpenStill || !refusedPaths.has(path)) refused += 1;
    refusedPaths.add(path);
  }
  const state = { made: answers.length, begun, cancelled, refused };
  return ending === undefined ? state : { ...state, ending };
}

/**
 * The decision that is open or needed now; nothing when there is nothing new to decide on. It is done
 * when a handler recovered it, or it was left out: then the decider is.
 */
function decisionProgress(
  job: LiveJob,
  leaf: Leaf,
  { phase, view, state }: { readonly phase: Phase; readonly view: View; readonly state: State },
): Progress {
  const next = decisionLeaf(leaf, state.made);
  const last = lastAttempt(job, next.path);
  const before =
    state.made === 0 ? undefined : lastAttempt(job, decisionPath(leaf, state.made - 1));
  const news = newsOf(job, leaf) + state.refused;
  const isNews = before === undefined || news > Number(before['seen'] ?? 0);
  if (last === undefined && !isNews) return open;
  return leafProgress(job, next, phase, view);
}

/** How much a decision that begins now knows of: it is needed again when there is more. */
export function seenBy(job: LiveJob, leaf: Leaf): number {
  return newsOf(job, leaf) + stateOf(job, leaf).refused;
}

/** What a decider began has ended, or a signal has come: so often something has happened. */
function newsOf(job: LiveJob, { path }: Pick<Leaf, 'path'>): number {
  const closed = job.steps.filter((step) => isNews(step, path)).length;
  return closed + (job.signals?.length ?? 0);
}

function isNews(step: Step, decider: string): boolean {
  if (!step.path.startsWith(`${decider}.`)) return false;
  const isOwn = ['decision', 'news'].some((kind) => step.path.startsWith(`${decider}.${kind}.`));
  if (isOwn) return false;
  return isFailed(step) ? step.due === undefined : 'end' in step;
}

/**
 * What a decider that completed, or the handler that recovered it, gave as its result. `resultOf` tells
 * that of a handler.
 */
export function deciderResult(
  job: LiveJob,
  leaf: Leaf,
  resultOf: (handler: Step) => unknown,
): unknown {
  const { ending, answers } = askedBy(job, leaf);
  if (ending !== undefined) return 'complete' in ending ? (ending['complete'] ?? null) : undefined;
  const handler = completionOn(job, decisionPath(leaf, answers.length));
  return handler === undefined ? undefined : resultOf(handler);
}

/** What a job that goes on anew is given. */
export function continueParams(job: LiveJob, leaf: Leaf): Readonly<Record<string, unknown>> {
  const { ending } = askedBy(job, leaf);
  return { ...(ending?.['continue_as_new'] as object | undefined) };
}
