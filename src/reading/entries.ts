import { branchesOf } from '../model/flow.js';
import { defaultQueue, type LiveJob } from '../model/job.js';
import { isObject } from '../model/object.js';
import {
  type LiveStep,
  type Step,
  type WaitingStep,
  isFailed,
  isOpen,
  type Phase,
} from '../model/step.js';
import { defaultOwner, defaultTaskTimeoutMs, type Task } from '../model/task.js';
import {
  isStructure,
  namesTask,
  pathsAbove,
  type ChildNode,
  type Entry,
  type Leaf,
  type Node,
} from '../model/tree.js';
import { attemptsOf, completionOn, lastAttempt, lineOf } from './attempts.js';
import type { Catch } from '../structures/catch.js';
import { entryKindOf } from '../structures/kinds.js';
import { deciderOf, decisionMaker, definedPath, isTried, slicedMap } from '../structures/paths.js';
import { leafBelow } from './decider-answers.js';
import {
  done,
  failedAt,
  noWork,
  open,
  type Beginning,
  type Progress,
  type View,
} from '../structures/progress.js';
import { childrenOf, leavesOf } from '../structures/tree.js';

/** The entries of a tree, top to bottom and by path. */
export type Leaves = {
  readonly list: readonly Leaf[];
  /** The entry at a path of a job; of what is repeated, each has a path of its own. */
  readonly at: (path: string) => Leaf | undefined;
  /** Position of the first entry at or below a path of a job. */
  readonly firstIndex: (path: string) => number | undefined;
};

/**
 * One decision asks for the entries of the same tree at each of its moves. They are kept as long
 * as the tree itself, with the prefix they were asked for; trees are never changed.
 */
const known = new WeakMap<Node, Leaves & { readonly prefix: string }>();

/** All entries of a tree; `prefix` is put before every path (`cancel`). */
export function leavesIn(tree: Node, prefix = ''): Leaves {
  const before = known.get(tree);
  if (before?.prefix === prefix) return before;
  const list = leavesOf(tree, prefix);
  const byPath = new Map(list.map((leaf) => [leaf.path, leaf]));
  const first = new Map<string, number>();
  for (const { path, index } of list) {
    for (const at of pathsAbove(path)) if (!first.has(at)) first.set(at, index);
  }
  const leaves = {
    list,
    prefix,
    at: (path: string) => {
      const leaf = byPath.get(path) ?? byPath.get(definedPath(path));
      return leaf === undefined || leaf.path === path ? leaf : { ...leaf, path };
    },
    firstIndex: (path: string) => first.get(definedPath(path)),
  };
  known.set(tree, leaves);
  return leaves;
}

/** A structure of a flow, and what the paths in it begin with. */
export type Branch = { readonly tree: Node; readonly prefix: '' | 'error' | 'cancel' };

/**
 * The structure of a flow that a path of a job is in, and what its paths begin with. Undefined: the
 * flow has none there.
 */
export function treeAt(
  { tasks, flow_definition: flow }: Pick<LiveJob, 'tasks' | 'flow_definition'>,
  path: string,
): Branch | undefined {
  const [root] = path.split('.', 1);
  if (root !== 'error' && root !== 'cancel') return { tree: tasks, prefix: '' };
  const branch = branchesOf(flow).find((one) => one.root === root);
  return branch && { tree: branch.tree, prefix: root };
}

/** The node of a tree at a path of a job. */
export function nodeAt(tree: Node, path: string, prefix = ''): Node | undefined {
  const wanted = definedPath(path);
  let node: Node | undefined = tree;
  let at = prefix;
  while (node !== undefined && at !== wanted) {
    const children: readonly ChildNode[] = isStructure(node) ? childrenOf(node, at) : [];
    const next: ChildNode | undefined = children.find(
      (child) => wanted === child.path || wanted.startsWith(`${child.path}.`),
    );
    node = next?.node;
    at = next?.path ?? at;
  }
  return node;
}

/** The node at a path of a job, in its flow or in what follows a failure or a cancel. */
export function nodeOf(job: LiveJob, path: string): Node | undefined {
  const branch = treeAt(job, path);
  return branch && nodeAt(branch.tree, path, branch.prefix);
}

/** The child job for a slice of a map stands at a leaf of its own. */
export function sliceLeaf(job: LiveJob, path: string): Leaf {
  const index = firstIndexAt(job, path);
  const name = nodeAt(job.tasks, slicedMap(path))?.name ?? 'map';
  return { path, index, name, label: `map-${index}`, entry: { task: 'map', slices: true } };
}

/** Position of the first entry at or below a path of the flow or of its cancel branch, else 0. */
export function firstIndexAt(job: LiveJob, path: string): number {
  const branch = treeAt(job, path);
  return (branch && leavesIn(branch.tree, branch.prefix).firstIndex(slicedMap(path))) ?? 0;
}

/** The leaf at a path of the flow as it is written; deciders begin others. */
export function writtenLeaf(job: LiveJob, path: string): Leaf | undefined {
  const branch = treeAt(job, path);
  return branch && leavesIn(branch.tree, branch.prefix).at(path);
}

/** The leaf at a path of the flow or of its cancel branch, also of what a decider began. */
export function leafAt(job: LiveJob, path: string): Leaf | undefined {
  const written = writtenLeaf(job, path);
  if (written !== undefined) return written;
  if (slicedMap(path) !== path) return sliceLeaf(job, path);
  const decider = writtenLeaf(job, deciderOf(path) ?? decisionMaker(path));
  return decider?.entry.decider === undefined ? undefined : leafBelow(job, decider, path);
}

/** The entry at a path of the flow or of its cancel branch; handlers have none. */
export function entryOf(job: LiveJob, path: string): Entry | undefined {
  return leafAt(job, path)?.entry;
}

/** Who uses slots: an owner's root job, with all jobs created for it. */
export type Party = { readonly owner: string; readonly root: string };

type JobDocument = {
  readonly _id: string;
  readonly owner?: unknown;
  readonly parent?: unknown;
};

/**
 * Returns whose slots a job uses, from its document in any form. The name of a root contains its
 * owner.
 */
export function partyOf({ _id: id, owner: given, parent }: JobDocument): Party {
  const owner = typeof given === 'string' ? given : defaultOwner;
  const { root, job } = (parent ?? {}) as { readonly root?: unknown; readonly job?: unknown };
  const top = [root, job].find((one) => typeof one === 'string') ?? id;
  return { owner, root: JSON.stringify([owner, top]) };
}

/** The queue of a job: its own, its flow's, the one that a child has from its parent's flow. */
export function queueOf({ queue, flow_definition, parent }: LiveJob): string {
  return queue ?? flow_definition.queue ?? parent?.queue ?? defaultQueue;
}

/** The same of a job document in any form; `flow`: that of a job which has no copy of it yet. */
export function queueOfDocument(
  { queue, flow_definition: copied, parent }: Readonly<Record<string, unknown>>,
  flow?: Readonly<Record<string, unknown>>,
): string {
  const places = [{ queue }, isObject(copied) ? copied : flow, isObject(parent) ? parent : {}];
  const names = places.map((place) => place?.['queue']);
  return names.find((name) => typeof name === 'string') ?? defaultQueue;
}

/**
 * The task that an entry runs: from the snapshot; flows and deciders named in the tree need none,
 * and what just waits has none, whatever tasks there are of that name.
 */
export function definitionOf(job: LiveJob, entry: Entry): Task | undefined {
  return namesTask(entry) ? job.definitions[entry.task] : entryKindOf(entry).task?.(entry);
}

/** The task that an attempt runs: that of its entry, or of the handler that it is. */
export function definitionFor(
  job: LiveJob,
  { path, task }: Pick<Step, 'path' | 'task'>,
): Task | undefined {
  const entry = entryOf(job, path);
  return entry === undefined ? job.definitions[task] : definitionOf(job, entry);
}

/** How long an attempt may run, and how long give no sign of life, ms; Infinity: nothing limits it. */
export type Limits = { readonly timeoutMs: number; readonly heartbeatMs: number };

/** The limits of an attempt: its entry's own ones count before those of its task. */
export function limitsOf(job: LiveJob, step: LiveStep): Limits {
  const entry = leafAt(job, step.path)?.entry;
  const task = entry === undefined ? job.definitions[step.task] : definitionOf(job, entry);
  const timeout = entry?.timeout ?? task?.timeout ?? defaultTaskTimeoutMs;
  const heartbeat = entry?.heartbeat ?? task?.heartbeat ?? 0;
  const left = deadlineAfter(task?.total_timeout ?? 0, job, step) - step.accepted;
  return {
    timeoutMs: Math.min(timeout === 0 ? Infinity : timeout, left),
    heartbeatMs: heartbeat === 0 ? Infinity : heartbeat,
  };
}

/** The time for waiting and all attempts of a step, ms; 0: nothing limits it. */
export function totalTimeoutOf(job: LiveJob, step: LiveStep | WaitingStep): number {
  return definitionFor(job, step)?.total_timeout ?? 0;
}

/** When that time is over; Infinity when nothing limits it. */
export function totalDeadline(job: LiveJob, step: LiveStep | WaitingStep): number {
  return deadlineAfter(totalTimeoutOf(job, step), job, step);
}

function deadlineAfter(total: number, job: LiveJob, step: LiveStep | WaitingStep): number {
  if (total === 0) return Infinity;
  const first = attemptsOf(job, step.path).find((attempt) => attempt.run === step.run) as LiveStep;
  return first.accepted + total;
}

/**
 * How far one entry has come. Its attempts count first, then its error handlers: a handler that
 * succeeds recovers the step, one that fails changes nothing. Seen from now, what failed in an earlier
 * run of the flow begins anew.
 */
export function leafProgress(job: LiveJob, leaf: Leaf, phase: Phase, view: View = 'now'): Progress {
  const last = lastAttempt(job, leaf.path);
  if (last === undefined) return beginning({ leaf, phase });
  if (isOpen(last)) return open;
  if (!isFailed(last)) return isUndone(job, last) ? beginning({ leaf, phase }) : done;
  if (last.due !== undefined) {
    // Both times are of one clock: "at once" must not wait for another engine's clock to get there.
    return beginning(last.due > last.end ? { leaf, phase, due: last.due } : { leaf, phase });
  }
  if (completionOn(job, leaf.path) !== undefined) return done;
  const optional = isOptional(job.definitions, leaf.entry, leaf.path);
  if (last.run < job.run && view === 'now') return optional ? done : beginning({ leaf, phase });
  const handler = handlerLeaf(job, leaf);
  if (handler !== undefined) {
    const handled = leafProgress(job, handler, 'error', view);
    if (handled.kind !== 'failed') return handled;
  }
  return optional ? done : failedAt(last);
}

function beginning(one: Beginning): Progress {
  return { kind: 'open', ...noWork, begin: [one] };
}

/** What was undone in an earlier run is to be done again. */
function isUndone(job: LiveJob, { path, run }: Step): boolean {
  if (job.run === 1) return false;
  const undo = lastAttempt(job, `${path}.undo`);
  return undo?.state === '$$complete' && undo.run < job.run && undo.run >= run;
}

function handlerLeaf(job: LiveJob, { path, index, entry }: Leaf): Leaf | undefined {
  const name = entry.error ?? definitionOf(job, entry)?.error;
  if (name === undefined || isHandling(job, path, name)) return undefined;
  return {
    path: `${path}.error`,
    index,
    name,
    label: `${name}-${index}`,
    entry: { task: name },
  };
}

/** Cuts a circle of handlers: a task that already failed on this line does not handle it again. */
function isHandling(job: LiveJob, path: string, name: string): boolean {
  return lineOf(path).some((at) => lastAttempt(job, at)?.task === name);
}

/**
 * Whether the failure of a node is passed over. What is said in the task of an entry that a catch tries
 * counts for the whole, as what stands beside `catch` does: the clauses come first.
 */
export function isOptional(
  definitions: LiveJob['definitions'] | undefined,
  node: Node,
  path: string,
): boolean {
  if (node.optional !== undefined) return node.optional;
  if (!isStructure(node)) return !isTried(path) && isOptionalTask(definitions, node);
  if (node.structure !== 'catch') return false;
  const { try: tried } = node as Catch;
  const isSilent = !isStructure(tried) && tried.optional === undefined;
  return isSilent && isOptionalTask(definitions, tried);
}

function isOptionalTask(definitions: LiveJob['definitions'] | undefined, entry: Entry): boolean {
  return namesTask(entry) && definitions?.[entry.task]?.optional === true;
}
