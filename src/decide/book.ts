import { attachmentOf } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';
import { isFailed, type Step } from '../model/step.js';
import {
  type Batch,
  below,
  callbacks,
  childPath,
  definedPath,
  type Graph,
  isStructure,
  type Leaf,
  type Node,
  type Sequence,
} from '../model/tree.js';
import { contentOf } from './attach.js';
import { completionOn, lastAttempt } from './history.js';
import { leafAt } from './leaf-at.js';
import { leavesIn } from './leaves.js';
import { countOf, markAt, slicesOf, type Mark } from './marks.js';
import { isWithin } from './paths.js';
import { endedIn, listOf, type Placed } from './placed.js';
import { itemsOf, listsOf, type Part } from './slice-results.js';
import { deciderResult } from './structure/decider.js';
import { progressAt } from './structure/interpret.js';

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

/** Collects the results of nodes; of each node there is one value, `undefined` where there is none. */
export class Book {
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

  /** Enters everything in a node. */
  add(node: Node, path: string): void {
    const value = this.#valueOf(node, path);
    if (value === undefined) return;
    this.#enter(node, path);
    this.previous = value;
  }

  /** Enters what is before `target` in the structure `node`, which has it in it. */
  addBefore(node: Node, path: string, target: string): void {
    if (!isStructure(node)) return;
    switch (node.structure) {
      case 'sequence':
        return this.#beforeInSequence(node, path, target);
      case 'parallel':
        return this.#descend(listOf(node.parallel, 'parallel', path), target);
      case 'batch':
        return this.#beforeInBatch(node, path, target);
      case 'graph':
        return this.#beforeInGraph(node, path, target);
      case 'choice': {
        const cases = node.choice.map(({ then }) => then);
        const otherwise = node.default === undefined ? [] : [node.default];
        const all = listOf(cases, 'choice', path);
        return this.#descend(
          [...all, ...otherwise.map((one) => ({ node: one, path: below(path, 'default') }))],
          target,
        );
      }
      case 'map':
      case 'loop': {
        const each = node.structure === 'map' ? node.map.do : node.loop.do;
        const i = numberIn(target, below(path, node.structure));
        if (i === undefined) return;
        if (node.structure === 'loop' && i > 0) this.add(each, childPath(path, 'loop', i - 1));
        return this.addBefore(each, childPath(path, node.structure, i), target);
      }
    }
  }

  #beforeInSequence({ sequence }: Sequence, path: string, target: string): void {
    for (const [i, child] of sequence.entries()) {
      const at = childPath(path, 'sequence', i);
      if (isWithin(target, at)) return this.addBefore(child, at, target);
      this.add(child, at);
    }
  }

  /** Callbacks see by number what became of all, good or bad, and nothing else there. */
  #beforeInBatch(node: Batch, path: string, target: string): void {
    const nodes = listOf(node.batch, 'batch', path);
    if (nodes.some((child) => isWithin(target, child.path))) return this.#descend(nodes, target);
    for (const child of nodes) this.#enter(child.node, child.path);
    const all = Object.fromEntries(
      nodes.map((child, i) => [String(i), this.#endOf(child.node, child.path)]),
    );
    for (const key of Object.keys(this.parent_results)) delete this.parent_results[key];
    Object.assign(this.parent_results, all);
    this.previous = all;
    for (const key of callbacks) {
      const callback = node[key];
      if (callback !== undefined && isWithin(target, below(path, key))) {
        return this.addBefore(callback, below(path, key), target);
      }
    }
  }

  #beforeInGraph({ graph }: Graph, path: string, target: string): void {
    const at = (name: string): string => childPath(path, 'graph', name);
    const name = Object.keys(graph).find((one) => isWithin(target, at(one)));
    if (name === undefined) return;
    const before = new Set<string>();
    const collect = (one: string): void => {
      for (const other of graph[one]?.after ?? []) {
        if (before.has(other)) continue;
        before.add(other);
        collect(other);
      }
    };
    collect(name);
    for (const one of Object.keys(graph)) {
      if (before.has(one)) this.add(graph[one] as Node, at(one));
    }
    this.addBefore(graph[name] as Node, at(name), target);
  }

  #descend(children: readonly Placed[], target: string): void {
    const child = children.find(({ path }) => isWithin(target, path));
    if (child !== undefined) this.addBefore(child.node, child.path, target);
  }

  /** Enters a node under its names and at its position. */
  #enter(node: Node, path: string): void {
    const value = this.#valueOf(node, path);
    if (value === undefined) return;
    if (!isStructure(node)) return this.#enterLeaf(path, value);
    const position = leavesIn(this.#job.tasks).firstIndex(path);
    if (node.name !== undefined) this.results[node.name] = value;
    if (node.structure === 'map') this.#enterLists(node.map.do, path);
    for (const child of endedIn(this.#job, node, path)) this.#enter(child.node, child.path);
    const grouped = ['parallel', 'batch', 'graph', 'map'].includes(node.structure);
    if (!grouped || position === undefined) return;
    const group = definedPath(path);
    for (const { index, path: at } of leavesIn(this.#job.tasks).list) {
      if (isWithin(at, group)) delete this.parent_results[String(index)];
    }
    this.parent_results[String(position)] = value;
  }

  #enterLeaf(path: string, value: unknown): void {
    const leaf = leafAt(this.#job, path) as Leaf;
    this.results[leaf.name] = value;
    this.results[leaf.label] = value;
    this.parent_results[String(leaf.index)] = value;
  }

  /** The results of each entry in a map, as a list. */
  #enterLists(each: Node, path: string): void {
    const mark = markAt(this.#job, path) as Mark;
    const { from = 0, slice } = mark;
    if (slice !== undefined) {
      Object.assign(
        this.results,
        listsOf(this.#partsOf(path, mark, slice), this.#namesOf(each, path)),
      );
      return;
    }
    const books = Array.from({ length: countOf(mark) }, (_, i) => {
      const book = new Book(this.#job, this.#contents, this.missing);
      book.#enter(each, childPath(path, 'map', from + i));
      return book.results;
    });
    const names = new Set(books.flatMap((results) => Object.keys(results)));
    for (const name of names) this.results[name] = books.map((results) => results[name] ?? null);
  }

  /** The value of a node that has one. */
  #valueOf(node: Node, path: string): unknown {
    const job = this.#job;
    if (!isStructure(node)) {
      const leaf = node.decider === undefined ? undefined : leafAt(job, path);
      if (leaf !== undefined) return deciderResult(job, leaf, (handler) => this.#resultOf(handler));
      const ended = completionOn(job, path);
      return ended === undefined ? undefined : this.#resultOf(ended);
    }
    const children = endedIn(this.#job, node, path);
    const values = children.map((child) => this.#valueOf(child.node, child.path));
    switch (node.structure) {
      case 'sequence':
      case 'choice':
      case 'loop':
        return values.findLast((value) => value !== undefined);
      case 'parallel':
      case 'batch':
      case 'graph': {
        const there = children.flatMap(({ key }, i) =>
          values[i] === undefined ? [] : [[key, values[i]] as const],
        );
        return there.length === 0 ? undefined : Object.fromEntries(there);
      }
      case 'map': {
        const mark = markAt(job, path);
        if (mark === undefined) return undefined;
        if (mark.slice !== undefined) return itemsOf(this.#partsOf(path, mark, mark.slice));
        const { from = 0 } = mark;
        return Array.from(
          { length: countOf(mark) },
          (_, i) => this.#valueOf(node.map.do, childPath(path, 'map', from + i)) ?? null,
        );
      }
    }
  }

  /** What the slices of a map told, in the order of its items. */
  #partsOf(path: string, mark: Mark, slice: number): readonly Part[] {
    return slicesOf(path, countOf(mark), slice).map(({ path: at, size }) => {
      const ended = lastAttempt(this.#job, at);
      const told = ended !== undefined && 'result' in ended ? this.#resultOf(ended) : undefined;
      return { size, told: told ?? {} };
    });
  }

  /** The names under which the result of an entry is seen; undefined: it is no entry. */
  #namesOf(each: Node, path: string): readonly string[] | undefined {
    const leaf = isStructure(each) ? undefined : leafAt(this.#job, childPath(path, 'map', 0));
    return leaf === undefined ? undefined : [leaf.name, leaf.label];
  }

  /** The result of an entry, from its attachment when it is kept there. */
  #resultOf(step: Step & { readonly result?: unknown }): unknown {
    const name = attachmentOf(step);
    if (name === undefined) return step.result ?? null;
    const known = contentOf(this.#job, this.#contents, name);
    if (known !== undefined) return known.value;
    this.missing.add(name);
    return step.result;
  }

  /** What became of a node for the callbacks of its batch: its value, or how it failed. */
  #endOf(node: Node, path: string): unknown {
    const progress = progressAt(this.#job, node, path);
    if (progress.kind === 'failed') return { failure: progress.step.failure };
    const value = this.#valueOf(node, path);
    if (value !== undefined) return value;
    const last = lastAttempt(this.#job, path);
    return last !== undefined && isFailed(last) ? { failure: last.failure } : null;
  }
}

/** The number that comes right after `stem` in a path. */
function numberIn(path: string, stem: string): number | undefined {
  const match = path.startsWith(`${stem}.`) ? /^\d+/.exec(path.slice(stem.length + 1)) : null;
  return match === null ? undefined : Number(match[0]);
}
