import { mostDecisions } from '../model/decisions.js';
import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, isFailed, isOpen, type Failure, type Phase, type Step } from '../model/step.js';
import type { StructureKind } from '../model/tree.js';
import { mostSteps, stepsForEnd } from './effort.js';
import { finish } from './finish.js';
import { attemptsOf, lastAttempt, leafAt, withNewStep } from './history.js';
import type { Move } from './intent.js';
import { nodeAt, treeAt, type Branch } from './leaves.js';
import { isWithin } from './paths.js';
import { askedBy, countDecisions, decisionPath } from './structure/answers.js';
import { unneededIn } from './structure/unneeded.js';
import { cancelledSteps } from './stop.js';
import { mayUndo, undoesLeft } from './undo.js';

/**
 * Fails a job that has too many steps, or a decider with too many decisions. It fails like any other
 * job: what was done is undone, and its handler or `error` branch runs. `stepsForEnd` steps are
 * reserved for that.
 */
export function tooManyMove(job: LiveJob, now: number): Move | undefined {
  if (isGivenUp(job)) return undefined;
  const why = tooManySteps(job) ?? tooManyDecisions(job);
  return why && { kind: 'change', job: withFlowFailed(job, '', why, now) };
}

function tooManySteps(job: LiveJob): Failure | undefined {
  const { length: steps } = job.steps;
  if (steps < mostSteps / 2) return undefined;
  const mostWithUndo = mostSteps + stepsForEnd / 2;
  if (steps < mostSteps && (!mayUndo(job) || steps + undoesLeft(job) < mostWithUndo)) {
    return undefined;
  }
  return failure('TooManySteps', { steps });
}

function tooManyDecisions(job: LiveJob): Failure | undefined {
  for (const [decider, decisions] of countDecisions(job)) {
    if (decisions <= mostDecisions || !isToBeAsked(job, decider)) continue;
    return failure('TooManyDecisions', { decisions, most: mostDecisions, of: 'decider' });
  }
  return undefined;
}

/** Whether the decider at a path may be asked again: it has not ended, and the flow still needs it. */
function isToBeAsked(job: LiveJob, path: string): boolean {
  const leaf = leafAt(job, path);
  if (leaf === undefined) return false;
  const { answers, ending } = askedBy(job, leaf);
  if (ending !== undefined) return false;
  const last = lastAttempt(job, decisionPath(leaf, answers.length));
  if (last !== undefined && isFailed(last) && last.due === undefined) return false;
  const { tree, prefix } = treeAt(job, path) as Branch;
  const unneeded = unneededIn(job, tree, phaseOf(prefix), prefix);
  return !unneeded.some((at) => isWithin(path, at));
}

/** What follows a failure or a cancel makes too many steps, too: the job ends at once. */
export function overflowMove(job: LiveJob, now: number): Move | undefined {
  const { length: steps } = job.steps;
  if (steps < mostSteps + stepsForEnd) return undefined;
  const why = failure('TooManySteps', { steps });
  const ended = cancelledSteps(job, isOpen, why, now);
  return { kind: 'change', job: finish(ended, { exit: exits.definition, failure: why }, now) };
}

function isGivenUp(job: LiveJob): boolean {
  const mark = lastAttempt(job, rootOf(job, ''));
  return mark !== undefined && isFailed(mark) && mark.run === job.run;
}

/**
 * The job with a record that the flow has failed as a whole, or the branch of it that the path is in:
 * nothing more begins there. In a slice it is the map that fails.
 */
export function withFlowFailed(job: LiveJob, path: string, why: Failure, now: number): LiveJob {
  const root = rootOf(job, path);
  const { tree, prefix } = treeAt(job, root) as Branch;
  const { structure, name } = nodeAt(tree, root, prefix) as {
    readonly structure: StructureKind;
    readonly name?: string;
  };
  const mark: Step = {
    ...{ index: 0, path: root, name: name ?? structure, task: structure, structure },
    ...{ attempt: attemptsOf(job, root).length + 1, run: job.run, end: now },
    phase: lastAttempt(job, root)?.phase ?? phaseOf(prefix),
    ...{ state: '$$error', exit: exits.definition, failure: why },
  };
  return withNewStep(job, mark);
}

function phaseOf(prefix: Branch['prefix']): Phase {
  return prefix === '' ? 'main' : prefix;
}

function rootOf(job: LiveJob, path: string): string {
  return job.slice?.path ?? (treeAt(job, path) as Branch).prefix;
}
