import { handlerOf } from '../../model/flow.js';
import type { LiveJob } from '../../model/job.js';
import { isFailed, isLive, isOfFlow, isOpen, type Step } from '../../model/step.js';
import { below, isStructure, type Entry, type Node } from '../../model/tree.js';
import { completionOn, jobSteps, lastAttempt } from '../../reading/attempts.js';
import { isOptional, leavesIn, nodeAt, treeAt } from '../../reading/entries.js';
import type { Catch } from '../../structures/catch.js';
import { casePath } from '../../structures/choice.js';
import { wordOf } from '../../structures/kinds.js';
import { markAt } from '../../structures/marks.js';
import { catchAround, decisionMaker, isOfDecider, slicedMap } from '../../structures/paths.js';
import { tooEarlyIn } from './replay.js';

/**
 * Whether a job that has begun can go on by another definition of its flow. `tws migrate` and
 * `tws retry --latest` ask this one rule.
 *
 * MV1 What was done or left out, runs, waits, or is to be tried again has the same path in both definitions, with the
 *     same task, kind of entry or kind of structure there. All else may differ: what has not begun, and what failed
 *     in an earlier run, begins by the new definition.
 * MV2 What runs, waits, or is to be tried again has the same plugin, or the same flow, in both.
 * MV3 A case that was chosen is there in both; the branch of a catch that was begun catches the same failures.
 * MV6 What runs or waits, and what began last, could begin by the other one, too (`replay.ts`).
 * MV4 A map whose slices are under way does not move: they have copies of the definition.
 */

/** What a job goes by. */
export type JobDefinition = Pick<LiveJob, 'tasks' | 'flow_definition' | 'definitions'>;

/** How far something has come that binds a job to its definition. */
export type Hold =
  | 'done'
  | 'left out'
  | 'running'
  | 'waiting'
  | 'to be tried again'
  | 'chosen'
  | 'begun for a failure'
  | 'begun too early'
  | 'sliced';

/** What keeps a job from going by a definition: what is at the path in both, in words. */
export type Obstacle = {
  readonly path: string;
  readonly hold: Hold;
  readonly was: string;
  readonly now: string;
};

/** The first obstacle that the steps of a job meet in another definition; undefined: it can go by that one. */
export function obstacleTo(job: LiveJob, next: JobDefinition): Obstacle | undefined {
  for (const step of job.steps) {
    const hold = lastAttempt(job, step.path) === step ? holdOf(job, step) : undefined;
    const found = hold === undefined ? undefined : obstacleAt({ job, next, step, hold });
    if (found !== undefined) return found;
  }
  const early = tooEarlyIn(job, next);
  if (early === undefined) return undefined;
  const { word } = workAt(job, job, early.path) as Work;
  return { path: early.path, hold: 'begun too early', was: word, now: word };
}

/** How a step binds its job; undefined: it does not. */
function holdOf(job: LiveJob, step: Step): Hold | undefined {
  const { path, phase, run } = step;
  // What a decider had others do was decided by it, whatever the flow says.
  if (isOfDecider(path)) return undefined;
  if (isOpen(step)) return isLive(step) ? 'running' : 'waiting';
  const isOfRun = run === job.run;
  if (isFailed(step) && step.due !== undefined && isOfRun) return 'to be tried again';
  // The step that it handles, or undoes, is bound itself.
  if (/.\.(?:error|undo)$/.test(path) || !(isOfFlow(phase) || isOfRun)) return undefined;
  return endedHold(job, step);
}

function endedHold(job: LiveJob, { path, run, state, structure }: Step): Hold | undefined {
  if (structure !== undefined) return state === '$$complete' ? 'done' : undefined;
  if (state === '$$skipped') return 'left out';
  const counts = run === job.run || completionOn(job, path) !== undefined;
  return counts || isPassedOver(job, path) ? 'done' : undefined;
}

/** It failed, and the flow goes on without it. */
function isPassedOver(job: LiveJob, path: string): boolean {
  const node = nodeIn(job, path);
  return node !== undefined && isOptional(job.definitions, node, path);
}

type Bound = {
  readonly job: LiveJob;
  readonly next: JobDefinition;
  readonly step: Step;
  readonly hold: Hold;
};

function obstacleAt({ job, next, step, hold }: Bound): Obstacle | undefined {
  const { path } = step;
  const was = workAt(job, job, path) ?? recorded(step);
  const now = workAt(job, next, path);
  if (now?.kind !== was.kind || now.word !== was.word) {
    return { path, hold, ...inWords(was, now) };
  }
  const isUnderWay = isOpen(step) || hold === 'to be tried again';
  return (
    (isUnderWay ? otherRunner({ job, next, step, hold }, was) : undefined) ??
    (step.structure === 'choice' ? lostCase(job, next, path) : undefined) ??
    (step.run === job.run ? otherBranch(job, next, path) : undefined)
  );
}

/** What a definition has at a path of a job: a kind of structure, a kind of entry with its name, or a handler. */
type Work = { readonly kind: string; readonly word: string };

function recorded({ structure, task }: Step): Work {
  return structure === undefined
    ? { kind: 'task', word: task }
    : { kind: 'structure', word: structure };
}

function workAt(job: LiveJob, by: JobDefinition, path: string): Work | undefined {
  const [, handled, role] = /^(.+)\.(error|undo)$/.exec(path) ?? [];
  const name =
    handled === undefined
      ? handlerOfFlow(by, path)
      : handlerOfStep(job, by, handled, role as 'error' | 'undo');
  if (name !== undefined) return { kind: 'task', word: name };
  const node = handled === undefined ? nodeIn(by, slicedMap(decisionMaker(path))) : undefined;
  if (node === undefined) return undefined;
  return isStructure(node)
    ? { kind: 'structure', word: node.structure }
    : { kind: wordOf(node), word: node.task };
}

function handlerOfFlow({ flow_definition: flow }: JobDefinition, path: string): string | undefined {
  return path === 'error' ? handlerOf(flow)?.name : undefined;
}

/** The task that handles the failure of a step, or undoes it. */
function handlerOfStep(
  job: LiveJob,
  by: JobDefinition,
  path: string,
  role: 'error' | 'undo',
): string | undefined {
  return entryIn(by, path)?.[role] ?? by.definitions[String(lastAttempt(job, path)?.task)]?.[role];
}

function entryIn(by: JobDefinition, path: string): Entry | undefined {
  const branch = treeAt(by, path);
  return branch && leavesIn(branch.tree, branch.prefix).at(path)?.entry;
}

function nodeIn(by: JobDefinition, path: string): Node | undefined {
  const branch = treeAt(by, path);
  return branch && nodeAt(branch.tree, path, branch.prefix);
}

const gone = 'gone';

/** Two kinds of entries may have the same name. */
function inWords(was: Work, now: Work | undefined): Pick<Obstacle, 'was' | 'now'> {
  if (now === undefined) return { was: was.word, now: gone };
  const isAlike = was.word === now.word;
  return isAlike
    ? { was: `${was.kind} ${was.word}`, now: `${now.kind} ${now.word}` }
    : { was: was.word, now: now.word };
}

/** MV2, MV4: what is under way is done by something else, or by child jobs that have copies. */
function otherRunner({ job, next, step, hold }: Bound, work: Work): Obstacle | undefined {
  const { path } = step;
  const map = slicedMap(path);
  if (map !== path) return { path: map, hold: 'sliced', was: work.word, now: work.word };
  if (work.kind !== 'task') return undefined;
  const [was, now] = [runnerOf(job, work.word), runnerOf(next, work.word)];
  return was === now ? undefined : { path, hold, was, now };
}

function runnerOf({ definitions }: JobDefinition, task: string): string {
  const { plugin = task, flow } = definitions[task] ?? {};
  return flow === undefined ? `plugin ${plugin}` : `flow ${flow}`;
}

/** MV3: the case that was taken of a choice is not there any more. */
function lostCase(job: LiveJob, next: JobDefinition, path: string): Obstacle | undefined {
  const taken = casePath(path, markAt(jobSteps(job), path)?.chosen);
  if (taken === undefined) return undefined;
  const was = workAt(job, job, taken);
  if (was === undefined || workAt(job, next, taken) !== undefined) return undefined;
  return { path: taken, hold: 'chosen', was: was.word, now: gone };
}

/** MV3: a branch of a catch around a path would not be the one that was begun. */
function otherBranch(job: LiveJob, next: JobDefinition, path: string): Obstacle | undefined {
  for (let at = catchAround(path); at !== undefined; at = catchAround(at)) {
    const rest = at === '' ? path : path.slice(at.length + 1);
    const clause = Number.parseInt(rest.slice('catch.'.length), 10);
    const [was, now] = [caughtUntil(job, at, clause), caughtUntil(next, at, clause)];
    if (was !== now) {
      return { path: below(at, `catch.${clause}`), hold: 'begun for a failure', was, now };
    }
  }
  return undefined;
}

/** Which failures the clauses of a catch are for, up to this one. */
function caughtUntil(by: JobDefinition, path: string, clause: number): string {
  const clauses = (nodeIn(by, path) as Partial<Catch> | undefined)?.catch ?? [];
  return JSON.stringify(clauses.slice(0, clause + 1).map(({ errors = '*' }) => errors));
}
