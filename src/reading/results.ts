import { attachmentOf } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';
import { isFailed, type Step } from '../model/step.js';
import {
  isStructure,
  isWithin,
  type ChildNode,
  type Leaf,
  type Node,
  type Structure,
} from '../model/tree.js';
import type { ResultScope } from '../structures/kind.js';
import { kindOf } from '../structures/kinds.js';
import { markAt } from '../structures/marks.js';
import { definedPath, repetitionsAround } from '../structures/paths.js';
import type { JobSteps } from '../structures/steps.js';
import { contentOf } from './attachments.js';
import { completionOn, jobSteps, lastAttempt } from './attempts.js';
import { caughtAround, failureSeen } from './caught.js';
import { deciderResult } from './decider-progress.js';
import { leafAt, leavesIn, nodeAt, nodeOf, treeAt } from './entries.js';
import { progressAt } from './progress.js';

/** Results as later steps see them. */
export type Results = {
  /** By step name and by `<task>-<n>`; of steps in a map a list, an entry for each item. */
  readonly results: Readonly<Record<string, unknown>>;
  /**
   * By position: of an entry its result, of nodes beside each other (at the position of the first
   * of their entries) an object by number or name, of a map a list.
   */
  readonly parent_results: Readonly<Record<string, unknown>>;
  /** What ended last, in the order of the definition. */
  readonly previous: unknown;
  /** Attachments whose contents are not known; their references stand in the results. */
  readonly missing: readonly string[];
};

/** Results that are kept as attachments, by the attachment's name. */
export type Contents = ReadonlyMap<string, unknown>;

const none: Contents = new Map();

/** All results of the flow. */
export function allResults(job: LiveJob, contents: Contents): Results {
  const collector = new ResultCollector(job, contents);
  collector.add(job.tasks, '');
  return collected(collector);
}

/** Results of what is before a path in the flow, not of what happens to run beside it. */
export function resultsBefore(job: LiveJob, path: string, contents: Contents = none): Results {
  const collector = new ResultCollector(job, contents);
  collector.addBefore(job.tasks, '', path);
  return collected(collector);
}

/**
 * All results of the flow for what follows a failure or a cancel. Inside a map or a loop, those of
 * its own item and round stand for the lists of all; a branch also sees what it did before.
 */
export function resultsAround(job: LiveJob, path: string, contents: Contents = none): Results {
  const collector = new ResultCollector(job, contents);
  collector.add(job.tasks, '');
  const branch = treeAt(job, path);
  if (branch === undefined) return collected(collector);
  const { tree, prefix } = branch;
  const parent_results = { ...collector.parent_results };
  if (prefix !== '') collector.addBefore(tree, prefix, path);
  for (const { item } of repetitionsAround(path)) {
    const node = nodeAt(tree, item, prefix);
    if (node !== undefined) collector.add(node, item);
  }
  return { ...collected(collector), parent_results };
}

function collected({ results, parent_results, previous, missing }: ResultCollector): Results {
  return { results, parent_results, previous, missing: [...missing] };
}

/**
 * What the maps and loops around a path add to what templates and conditions see: `item` (and the
 * name that the map gives it), `index` of the item, `round` of the loop, of the innermost ones.
 */
export function scopeOf(job: LiveJob, path: string): Readonly<Record<string, unknown>> {
  const scope: Record<string, unknown> = {};
  for (const { path: at, number } of repetitionsAround(path)) {
    const node = nodeOf(job, at);
    if (node === undefined || !isStructure(node)) continue;
    Object.assign(scope, kindOf(node).repeats?.scope(node, number, markAt(jobSteps(job), at)));
  }
  return scope;
}

/** Collects the results of nodes; of each node there is one value, `undefined` where there is none. */
export class ResultCollector implements ResultScope {
  readonly results: Record<string, unknown> = {};
  readonly parent_results: Record<string, unknown> = {};
  previous: unknown = undefined;
  readonly missing: Set<string>;
  readonly #job: LiveJob;
  readonly #contents: Contents;

  constructor(job: LiveJob, contents: Contents, missing = new Set<string>()) {
    this.#job = job;
    this.#contents = contents;
    this.missing = missing;
  }

  /** Asked for by structures that repeat something. */
  get steps(): JobSteps {
    return jobSteps(this.#job);
  }

  readonly add = (node: Node, path: string): void => {
    const value = this.valueOf(node, path);
    if (value === undefined) return;
    this.enter(node, path);
    this.previous = value;
  };

  readonly addBefore = (node: Node, path: string, target: string): void => {
    if (isStructure(node)) kindOf(node).results.addBefore(node, path, target, this);
  };

  readonly addBeforeIn = (children: readonly ChildNode[], target: string): void => {
    const child = children.find(({ path }) => isWithin(target, path));
    if (child !== undefined) this.addBefore(child.node, child.path, target);
  };

  readonly startOver = (byPosition: Readonly<Record<string, unknown>>): void => {
    for (const key of Object.keys(this.parent_results)) delete this.parent_results[key];
    Object.assign(this.parent_results, byPosition);
    this.previous = byPosition;
  };

  readonly name = (results: Readonly<Record<string, unknown>>): void => {
    Object.assign(this.results, results);
  };

  readonly enter = (node: Node, path: string): void => {
    const value = this.valueOf(node, path);
    if (value === undefined) return;
    if (!isStructure(node)) return this.#enterLeaf(path, value);
    const { isGroup, enterLists } = kindOf(node).results;
    if (node.name !== undefined) this.results[node.name] = value;
    enterLists?.(node, path, this);
    for (const child of this.#partsOf(node, path)) this.enter(child.node, child.path);
    if (isGroup) this.#placeGroup(path, value);
  };

  /** Puts the value of a group at the position of its first entry, in place of all in it. */
  #placeGroup(path: string, value: unknown): void {
    const { list, firstIndex } = leavesIn(this.#job.tasks);
    const position = firstIndex(path);
    if (position === undefined) return;
    const group = definedPath(path);
    for (const { index, path: at } of list) {
      if (isWithin(at, group)) delete this.parent_results[String(index)];
    }
    this.parent_results[String(position)] = value;
  }

  readonly enterAt = (path: string, value: unknown): void => {
    if (this.leafAt(path) !== undefined) this.#enterLeaf(path, value);
  };

  readonly caughtAt = (path: string): unknown => {
    const step = caughtAround(this.#job, path);
    return step && failureSeen(step);
  };

  #enterLeaf(path: string, value: unknown): void {
    const leaf = this.leafAt(path) as Leaf;
    this.results[leaf.name] = value;
    this.results[leaf.label] = value;
    this.parent_results[String(leaf.index)] = value;
  }

  readonly resultsIn = (node: Node, path: string): Readonly<Record<string, unknown>> => {
    const inner = new ResultCollector(this.#job, this.#contents, this.missing);
    inner.enter(node, path);
    return inner.results;
  };

  readonly leafAt = (path: string): Leaf | undefined => leafAt(this.#job, path);

  readonly valueOf = (node: Node, path: string): unknown => {
    if (isStructure(node)) return this.#valueOfStructure(node, path);
    const leaf = node.decider === undefined ? undefined : this.leafAt(path);
    if (leaf !== undefined) {
      return deciderResult(this.#job, leaf, (handler) => this.resultOf(handler));
    }
    const ended = completionOn(this.#job, path);
    return ended === undefined ? undefined : this.resultOf(ended);
  };

  #valueOfStructure(node: Structure, path: string): unknown {
    const values = this.#partsOf(node, path).map(
      (child) => [String(child.keys.at(-1)), this.valueOf(child.node, child.path)] as const,
    );
    return kindOf(node).results.value(values, { node, path, scope: this });
  }

  #partsOf(node: Structure, path: string): readonly ChildNode[] {
    const { results, children } = kindOf(node);
    return results.parts?.(node, path, this.steps) ?? children(node, path);
  }

  readonly resultOf = (step: Step & { readonly result?: unknown }): unknown => {
    const name = attachmentOf(step);
    if (name === undefined) return step.result ?? null;
    const known = contentOf(this.#job, this.#contents, name);
    if (known !== undefined) return known.value;
    this.missing.add(name);
    return step.result;
  };

  readonly endOf = (node: Node, path: string): unknown => {
    const progress = progressAt(this.#job, node, path);
    if (progress.kind === 'failed') return { failure: progress.step.failure };
    const value = this.valueOf(node, path);
    if (value !== undefined) return value;
    const last = lastAttempt(this.#job, path);
    return last !== undefined && isFailed(last) ? { failure: last.failure } : null;
  };
}
