import type { LiveJob } from '../model/job.js';
import { isFailed, type Phase, type Step } from '../model/step.js';
import { isStructure, type Leaf, type Node, type Structure } from '../model/tree.js';
import type { Kind } from '../structures/kind.js';
import { kindOf, leavesWork } from '../structures/kinds.js';
import {
  createRoom,
  done,
  failedAt,
  noWork,
  open,
  type Interpreting,
  type Progress,
  type Room,
  type View,
} from '../structures/progress.js';
import { jobSteps, lastAttempt, withoutStaleBranches } from './attempts.js';
import {
  isOptional,
  leavesIn,
  nodeAt,
  sliceLeaf,
  treeAt,
  type Branch,
  type Leaves,
  leafProgress,
} from './entries.js';
import { deciderProgress } from './decider-progress.js';

/**
 * Says how far a tree has come. Nothing about nodes is stored: everything follows from the steps.
 * `prefix` is the path of the root (`cancel` for the cancel branch, `error` for what follows a failure). In a further run of the flow,
 * structures that were done stay done, whatever failed in them: only what failed begins anew.
 */
export function interpret(job: LiveJob, tree: Node, phase: Phase, prefix = ''): Progress {
  const { slice } = job;
  if (slice !== undefined) {
    const map = nodeAt(job.tasks, slice.path) as Node;
    const { phase: own } = lastAttempt(job, slice.path) as Step;
    return visitor(job, leavesIn(job.tasks), 'now')(own, map, slice.path);
  }
  return visitor(job, leavesIn(tree, prefix), 'now')(phase, tree, prefix);
}

/** How far a node at a path of the flow, or of what follows a failure or a cancel, has come. */
export function progressAt(job: LiveJob, node: Node, path: string): Progress {
  const { tree, prefix } = treeAt(job, path) as Branch;
  return visitor(job, leavesIn(tree, prefix), 'now')('main', node, path);
}

/** The same at the end of the runs before this one. */
export function progressBefore(job: LiveJob, node: Node, path: string): Progress {
  const { tree, prefix } = treeAt(job, path) as Branch;
  return visitor(stepsBefore(job), leavesIn(tree, prefix), 'before')('main', node, path);
}

/** The job as the runs before this one left it, without branches for what was tried again since. */
function stepsBefore(job: LiveJob): LiveJob {
  const steps = job.steps.filter(({ run }) => run < job.run);
  return { ...job, steps: withoutStaleBranches(job, steps) };
}

type Visit = (phase: Phase, node: Node, path: string) => Progress;

function visitor(job: LiveJob, leaves: Leaves, view: View): Visit {
  const before =
    view === 'now' && job.run > 1 ? visitor(stepsBefore(job), leaves, 'before') : undefined;
  const known = new Map<string, Progress>();
  const steps = jobSteps(job);
  let room: Room | undefined;
  const own = {
    steps,
    view,
    room: () => (room ??= createRoom()),
    slice: job.slice,
    leavesWork,
    sliceLeaf: (path: string) => sliceLeaf(job, path),
  };
  const visitNew: Visit = (phase, node, path) => {
    if (!isStructure(node)) {
      const leaf = leaves.at(path) as Leaf;
      return node.decider === undefined
        ? leafProgress(job, leaf, phase, view)
        : deciderProgress(job, leaf, phase, view);
    }
    const visit = (child: Node, at: string): Progress => visitAs(phase, child, at);
    const visitBefore = (child: Node, at: string) => before?.(phase, child, at);
    const interpreting = { ...own, phase, visit, visitAs, visitBefore };
    // What failed in a slice is done again whatever is tolerated: only its parent sees all slices.
    if (path === job.slice?.path) return sliceOf(node, path, interpreting);
    if (before?.(phase, node, path).kind === 'done') return done;
    const kind = kindOf(node);
    const mark = steps.last(path);
    const mayBegin =
      mark === undefined &&
      node.when === undefined &&
      node.guards === undefined &&
      kind.finding?.isFirst !== true;
    const progress = mayBegin
      ? kind.progress(node, path, interpreting)
      : behindCondition({ kind, node, path, mark }, interpreting);
    return progress.kind === 'failed'
      ? givenUp(progress, isOptional(job.definitions, node, path), path, interpreting)
      : progress;
  };
  const visitOnce: Visit = (phase, node, path) => {
    const progress = known.get(path) ?? visitNew(phase, node, path);
    known.set(path, progress);
    return progress;
  };
  // How things were before is asked at every level.
  const visitAs = view === 'before' ? visitOnce : visitNew;
  return visitAs;
}

/** A structure that must find something out before it begins, or for which there is a step. */
type Conditional = {
  readonly kind: Kind;
  readonly node: Structure;
  readonly path: string;
  readonly mark: Step | undefined;
};

/** What must be found out first comes as a step of the structure itself; then its own rules speak. */
function behindCondition(
  { kind, node, path, mark }: Conditional,
  interpreting: Interpreting,
): Progress {
  const { steps, view, phase } = interpreting;
  const condition = { ...open, conditions: [{ node, path, phase }] };
  if (mark === undefined) return condition;
  if (mark.state === '$$skipped') return done;
  if (isFailed(mark) && mark.run < steps.run && view === 'now') return condition;
  const unfit = isFailed(mark) ? undefined : kind.finding?.mismatch(node, path, steps);
  if (unfit !== undefined) return { ...open, conditions: [{ node, path, phase, unfit }] };
  return isFailed(mark) ? failedAt(mark) : kind.progress(node, path, interpreting);
}

/** The list of a slice was found by its parent: it is never asked for again. */
function sliceOf(node: Structure, path: string, interpreting: Interpreting): Progress {
  const { steps, phase } = interpreting;
  const kind = kindOf(node);
  const mark = steps.last(path);
  if (mark !== undefined && isFailed(mark)) return failedAt(mark);
  const unfit = kind.finding?.mismatch(node, path, steps);
  if (unfit !== undefined) return { ...open, conditions: [{ node, path, phase, unfit }] };
  return kind.progress(node, path, interpreting);
}

/** When a structure fails, nothing in it goes on; an optional one then counts as done. */
function givenUp(
  failed: Progress,
  optional: boolean,
  path: string,
  { steps }: Interpreting,
): Progress {
  const left = { ...noWork, drop: steps.isBusyBelow(path) ? [path] : [] };
  return optional ? { kind: 'done', ...left } : { ...failed, ...left };
}
