import { mostDecisions } from '../../model/decisions.js';
import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isFailed, isOpen, type Failure, type Phase, type Step } from '../../model/step.js';
import { isWithin } from '../../model/tree.js';
import { manySteps, mostSteps, stepsForEnd } from '../start/effort.js';
import { finish } from './finish.js';
import { attemptsOf, lastAttempt } from '../../reading/attempts.js';
import { withNewStep } from '../steps.js';
import { leafAt, nodeAt, treeAt, type Branch } from '../../reading/entries.js';
import type { Move } from '../intent.js';
import { askedBy, countDecisions, decisionPath } from '../../reading/decider-answers.js';
import { unneededIn } from '../../reading/unneeded.js';
import { cancelledSteps } from './stop.js';
import { mayUndo, undoesLeft } from './undo.js';

/**
 * Fails a job that has too many steps, or the part of it whose decider made too many decisions: the
 * flow, or what follows its failure. The flow fails like any other: what was done is undone, and
 * its handler or `error` branch runs. `stepsForEnd` steps are reserved for that.
 */
export function tooManyMove(job: LiveJob, now: number): Move | undefined {
  const why = tooManySteps(job);
  if (why !== undefined && !isGivenUp(job, '')) {
    return { kind: 'change', job: withFlowFailed(job, '', why, now) };
  }
  return tooManyDecisionsMove(job, ['', 'error'], now);
}

/** Fails each of the given parts of a flow in which a decider made too many decisions. */
export function tooManyDecisionsMove(
  job: LiveJob,
  parts: readonly Branch['prefix'][],
  now: number,
): Move | undefined {
  for (const [decider, decisions] of countDecisions(job)) {
    if (decisions <= mostDecisions) continue;
    const part = treeAt(job, decider)?.prefix;
    if (part === undefined || !parts.includes(part)) continue;
    if (isGivenUp(job, decider) || !isToBeAsked(job, decider)) continue;
    const size = { decisions, most: mostDecisions, of: 'decider' } as const;
    const why = failure('TooManyDecisions', size);
    return { kind: 'change', job: withFlowFailed(job, decider, why, now) };
  }
  return undefined;
}

function tooManySteps(job: LiveJob): Failure | undefined {
  const { length: steps } = job.steps;
  if (steps < manySteps) return undefined;
  const mostWithUndo = mostSteps + stepsForEnd / 2;
  if (steps < mostSteps && (!mayUndo(job) || steps + undoesLeft(job) < mostWithUndo)) {
    return undefined;
  }
  return failure('TooManySteps', { steps });
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

/** Ends the job at once when what follows a failure or a cancel makes too many steps as well. */
export function overflowMove(job: LiveJob, now: number): Move {
  const why = failure('TooManySteps', { steps: job.steps.length });
  const ended = cancelledSteps(job, isOpen, why, now);
  return { kind: 'change', job: finish(ended, { exit: exits.definition, failure: why }, now) };
}

/** The part of the flow that a path is in has failed as a whole. */
function isGivenUp(job: LiveJob, path: string): boolean {
  const mark = lastAttempt(job, rootOf(job, path));
  return mark !== undefined && isFailed(mark) && mark.run === job.run;
}

/**
 * Records that the flow, or the branch of it that contains the path, has failed as a whole: nothing
 * more begins there. In a slice the map fails instead.
 */
export function withFlowFailed(job: LiveJob, path: string, why: Failure, now: number): LiveJob {
  const root = rootOf(job, path);
  const { tree, prefix } = treeAt(job, root) as Branch;
  const { structure, name } = nodeAt(tree, root, prefix) as {
    readonly structure: string;
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
