import type { Batch } from '../../../src/structures/batch.js';
import type { Catch } from '../../../src/structures/catch.js';
import type { Choice } from '../../../src/structures/choice.js';
import type { Graph } from '../../../src/structures/graph-progress.js';
import type { Loop } from '../../../src/structures/loop.js';
import type { MapOver } from '../../../src/structures/map-slices.js';
import type { Parallel } from '../../../src/structures/parallel.js';
import type { Sequence } from '../../../src/structures/sequence.js';
import type { Task } from '../../../src/model/task.js';
import { isFailed, type Step } from '../../../src/model/step.js';
import { isStructure as isAnyStructure, type Entry, type Node } from '../../../src/model/tree.js';
import type { GraphNode } from '../../../src/structures/graph-progress.js';

/**
 * How far a tree has come, told anew from the steps alone and in the plainest way: what the rules of
 * the structures say, without what makes the engine quick, keeps work apart or goes on in the
 * background. `idle`: nothing of it has begun, or it is between two attempts.
 */
export type End = 'idle' | 'busy' | 'done' | 'failed';

export type Oracle = {
  readonly endOf: (node: Node, path: string) => End;
  /** Why a step at this path must not begin; undefined: it may. */
  readonly objection: (tree: Node, root: string, path: string) => string | undefined;
};

/** Every kind that the oracle knows. */
type Structure = Sequence | Parallel | Batch | Graph | Choice | MapOver | Loop | Catch;
const isStructure = (node: Node): node is Structure => isAnyStructure(node);

type Nodes = Readonly<Record<string, GraphNode>>;
type Standing = {
  readonly end: End | 'cut_off';
  readonly mayBegin: boolean;
  /** It failed, or something before it did and it can never begin. */
  readonly bad: boolean;
};
type Children = readonly (readonly [node: Node, path: string])[];

export function oracleOf(steps: readonly Step[], tasks: Readonly<Record<string, Task>>): Oracle {
  const at = new Map<string, Step[]>();
  for (const step of steps) at.set(step.path, [...(at.get(step.path) ?? []), step]);
  const lastAt = (path: string): Step | undefined => at.get(path)?.at(-1);
  const marks = (path: string): readonly { [key: string]: unknown }[] =>
    (at.get(path) ?? []).flatMap(({ state, result }: { state: string; result?: unknown }) =>
      state === '$$complete' ? [(result ?? {}) as { [key: string]: unknown }] : [],
    );
  const isBusy = (path: string): boolean =>
    steps.some(
      (step) =>
        (step.path === path || step.path.startsWith(`${path}.`)) &&
        ['$$ready', '$$active', '$$waiting'].includes(step.state),
    );

  const endOfEntry = (path: string, optional: boolean): End => {
    const last = lastAt(path);
    if (last === undefined) return 'idle';
    if (isBusy(path)) return 'busy';
    if (last.state === '$$complete' || last.state === '$$skipped') return 'done';
    if ('due' in last && last.due !== undefined) return 'idle';
    if (endOfEntry(`${path}.error`, false) === 'done') return 'done';
    return optional ? 'done' : 'failed';
  };
  const endOfDecider = (path: string, optional: boolean): End => {
    if (lastAt(path)?.state === '$$skipped') return 'done';
    // Behind a decision that was made anew stand those of an earlier run: they do not count.
    for (let number = 0; ; number += 1) {
      const made = `${path}.decision.${number}`;
      const last = lastAt(made);
      if (last?.state !== '$$complete' || !Array.isArray(last.result)) {
        return endOfEntry(made, optional);
      }
      if (last.result.some((one: object) => 'complete' in one)) return 'done';
    }
  };
  const endOf = (node: Node, path: string): End => {
    if (!isStructure(node)) {
      const { task, decider } = node as Entry;
      // Of what a catch tries, the document of the task speaks for the whole.
      const isTried = path === 'try' || path.endsWith('.try');
      const optional = node.optional ?? (!isTried && tasks[task]?.optional === true);
      return decider === undefined ? endOfEntry(path, optional) : endOfDecider(path, optional);
    }
    const mark = lastAt(path);
    if (mark?.state === '$$skipped') return 'done';
    const end = mark?.state === '$$error' ? 'failed' : endOfStructure(node, path);
    const tried = node.structure === 'catch' ? (node.try as Entry) : undefined;
    const isSilent = node.optional === undefined && tried?.optional === undefined;
    const byTask = isSilent && tasks[tried?.task ?? '']?.optional === true;
    return end === 'failed' && (byTask || node.optional === true) ? 'done' : end;
  };
  const endOfStructure = (node: Structure, path: string): End => {
    const needsMark = ['choice', 'map', 'loop'].includes(node.structure) || isConditional(node);
    if (needsMark && marks(path).length === 0) return 'idle';
    switch (node.structure) {
      case 'sequence':
        return inTurn(node.sequence.map((child, i) => [child, under(path, 'sequence', i)]));
      case 'parallel': {
        const ends = node.parallel.map((child, i) => endOf(child, under(path, 'parallel', i)));
        const { join = 'all', on_fail: onFail } = node;
        const all = ends.length;
        return together(
          ends,
          join === 'all' ? all : Math.min(join === 'any' ? 1 : join, all),
          onFail,
        );
      }
      case 'batch': {
        const ends = node.batch.map((child, i) => endOf(child, under(path, 'batch', i)));
        const jobs = together(ends, ends.length, node.on_fail);
        if (ends.includes('busy') || jobs === 'idle' || jobs === 'busy') return jobs;
        const first = ends.every((end) => end === 'done') ? 'on_success' : 'on_failure';
        const calls = [first, 'on_complete'] as const;
        const results = calls.flatMap((key) =>
          node[key] === undefined ? [] : [endOf(node[key], under(path, key))],
        );
        const open = results.find((end) => end === 'idle' || end === 'busy');
        return open ?? (results.includes('failed') || jobs === 'failed' ? 'failed' : 'done');
      }
      case 'graph':
        return endOfGraph(node.graph, path, node.on_fail);
      case 'choice': {
        const chosen = marks(path).at(-1)?.['chosen'];
        const taken = typeof chosen === 'number' ? node.choice[chosen]?.then : undefined;
        if (taken !== undefined) return endOf(taken, under(path, 'choice', Number(chosen)));
        if (chosen !== 'default' || node.default === undefined) return 'done';
        return endOf(node.default, under(path, 'default'));
      }
      case 'map': {
        const items = marks(path).at(-1)?.['items'] as readonly unknown[];
        const ends = items.map((_, i) => endOf(node.map.do, under(path, 'map', i)));
        const { tolerate = 0, on_fail: onFail } = node.map;
        const most =
          typeof tolerate === 'number'
            ? Math.min(tolerate, items.length)
            : Math.floor((items.length * Number.parseInt(tolerate, 10)) / 100);
        const end = together(ends, items.length - most, onFail);
        const open = ends.find((one) => one === 'idle' || one === 'busy');
        return end === 'done' ? (open ?? 'done') : end;
      }
      case 'loop': {
        const rounds = marks(path).filter(({ again }) => again === true).length;
        const last = rounds === 0 ? 'done' : endOf(node.loop.do, under(path, 'loop', rounds - 1));
        return last !== 'done' ? last : marks(path).length > rounds ? 'done' : 'idle';
      }
      case 'catch': {
        const tried = endOf(node.try, under(path, 'try'));
        if (tried !== 'failed') return tried;
        const clause = clauseOf(node, path);
        if (clause < 0) return 'failed';
        if (isBusy(under(path, 'try'))) return 'busy';
        return endOf(node.catch[clause]?.do as Node, under(path, 'catch', clause));
      }
    }
  };
  /** The clause for the step that failed what was tried: the one that some failure in it asks for. */
  const clauseOf = (node: Catch, path: string): number => {
    const at = failedIn(node.try, under(path, 'try'));
    if (at === undefined || at.state === '$$cancelled' || !isFailed(at)) return -1;
    const names = [at.failure.name, String(at.failure.code)];
    return node.catch.findIndex(({ errors = '*' }) => {
      if (errors === '*') return true;
      return errors.some((one) =>
        names.some((name) => (one.startsWith('*') ? name.endsWith(one.slice(1)) : name === one)),
      );
    });
  };
  /** The step for which a node has failed: of several beside each other one that was not cancelled. */
  const failedIn = (node: Node, path: string): Step | undefined => {
    if (!isStructure(node)) {
      const isDecider = (node as Entry).decider !== undefined;
      const decision = new RegExp(`^${path.replaceAll('.', '\\.')}\\.decision\\.\\d+$`);
      return isDecider ? steps.findLast((one) => decision.test(one.path)) : lastAt(path);
    }
    if (lastAt(path)?.state === '$$error') return lastAt(path);
    const failures = childrenIn(node, path, marks(path)).flatMap(([child, at]) =>
      endOf(child, at) === 'failed' ? (failedIn(child, at) ?? []) : [],
    );
    const isOne = node.structure === 'sequence' || node.structure === 'catch';
    return (
      (isOne ? undefined : failures.find(({ state }) => state !== '$$cancelled')) ?? failures[0]
    );
  };
  const inTurn = (children: Children): End => {
    for (const [node, path] of children) {
      const end = endOf(node, path);
      if (end !== 'done') return end;
    }
    return 'done';
  };
  /** Twice: what is cancelled because another was enough never ends by itself. */
  const standings = (graph: Nodes, path: string): ReadonlyMap<string, Standing> => {
    const first = standingsWithout(graph, path, new Set());
    const dropped = Object.values(graph).flatMap((node) => {
      const { after = [], join, cancel_rest: rest } = node;
      const isAny = !('parallel' in node) && (join === 'any' || typeof join === 'number');
      const done = after.filter((one) => first.get(one)?.end === 'done').length;
      return isAny && rest === true && done >= (join === 'any' ? 1 : join) ? after : [];
    });
    const idle = dropped.filter((name) => first.get(name)?.end === 'idle');
    return standingsWithout(graph, path, new Set(idle));
  };
  const standingsWithout = (
    graph: Nodes,
    path: string,
    dropped: ReadonlySet<string>,
  ): ReadonlyMap<string, Standing> => {
    const known = new Map<string, Standing>();
    const reach = (name: string): Standing => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const node = graph[name] as GraphNode;
      const after = (node.after ?? []).map(reach);
      const { join = 'all' } = 'parallel' in node ? {} : node;
      const done = after.filter(({ end }) => end === 'done').length;
      const open = after.filter(({ end }) => end === 'idle' || end === 'busy').length;
      const bad = after.some((one) => one.bad);
      const needed = join === 'any' ? 1 : typeof join === 'number' ? join : after.length;
      const mayBegin =
        after.length === 0 ||
        (join === 'done' && open === 0) ||
        (join === 'none_failed' && open === 0 && !bad) ||
        (join !== 'done' && join !== 'none_failed' && done >= needed);
      const at = under(path, `graph.${name}`);
      // What has nothing in it is done only when it may begin.
      const own = mayBegin || lastBelow(at) !== undefined ? endOf(node, at) : 'idle';
      const mayStill = join === 'done' || (join === 'none_failed' ? !bad : done + open >= needed);
      const isCutOff = dropped.has(name) || (own === 'idle' && !mayBegin && !mayStill);
      const end = isCutOff ? 'cut_off' : own;
      const isCancelled = lastBelow(at)?.state === '$$cancelled';
      const isBad = isCutOff ? bad && !dropped.has(name) : own === 'failed' && !isCancelled;
      const place: Standing = { end, mayBegin, bad: isBad };
      known.set(name, place);
      return place;
    };
    for (const name of Object.keys(graph)) reach(name);
    return known;
  };
  const lastBelow = (path: string): Step | undefined =>
    steps.findLast((step) => step.path === path || step.path.startsWith(`${path}.`));
  const endOfGraph = (graph: Nodes, path: string, onFail: string | undefined): End => {
    const places = standings(graph, path);
    const replaced = new Set<string>();
    for (const [name, { mayBegin }] of places) {
      const { after = [], join, ...node } = graph[name] as GraphNode;
      const isAny = (join === 'any' || typeof join === 'number') && !('parallel' in node);
      if (mayBegin && isAny) for (const one of after) replaced.add(one);
    }
    const counted = [...places].filter(([name]) => !replaced.has(name)).map(([, place]) => place);
    const failed = counted.some(({ end, bad }) => end === 'failed' || bad);
    if (failed && onFail === 'cancel_rest') return 'failed';
    const open = counted.find(({ end }) => end === 'idle' || end === 'busy');
    if (open !== undefined) return open.end as End;
    return failed && onFail !== 'ignore' ? 'failed' : 'done';
  };

  const objection: Oracle['objection'] = (tree, root, path) => {
    let node = tree;
    let here = root;
    while (isStructure(node)) {
      const way = wayFrom(node, here, path);
      if (way === undefined) return undefined;
      const why = objectionIn(node, here, way);
      if (why !== undefined) return `${why} (${here === '' ? 'root' : here} for ${path})`;
      node = way.node;
      here = way.path;
    }
    return undefined;
  };
  const objectionIn = (node: Structure, path: string, way: Way): string | undefined => {
    if (isConditional(node) && marks(path).length === 0) return 'conditions were not asked';
    switch (node.structure) {
      case 'sequence': {
        const before = node.sequence.slice(0, Number(way.key));
        const ends = before.map((child, i) => endOf(child, under(path, 'sequence', i)));
        return ends.every((end) => end === 'done')
          ? undefined
          : `not all before it are done: ${ends.join()}`;
      }
      case 'parallel':
        return undefined;
      case 'batch': {
        const jobs = node.batch.map((child, i) => endOf(child, under(path, 'batch', i)));
        if (way.kind === 'batch') return undefined;
        if (jobs.includes('busy')) return 'a job of the batch is open';
        const good = jobs.every((end) => end === 'done');
        if (way.key === 'on_success' && !good) return 'not all succeeded';
        if (way.key === 'on_failure' && good) return 'all succeeded';
        return undefined;
      }
      case 'graph':
        return standings(node.graph, path).get(way.key)?.mayBegin === true
          ? undefined
          : 'it comes after others';
      case 'choice': {
        const chosen = marks(path).at(-1)?.['chosen'];
        return String(chosen) === way.key ? undefined : `the choice was ${String(chosen)}`;
      }
      case 'map': {
        const items = marks(path).at(-1)?.['items'] as readonly unknown[] | undefined;
        const { limit = 0 } = node.map;
        const busy = (items ?? []).filter((_, i) => isBusy(under(path, 'map', i))).length;
        if (limit > 0 && busy > limit) return `${busy} items at a time`;
        return Number(way.key) < (items ?? []).length ? undefined : 'there is no such item';
      }
      case 'loop': {
        const rounds = marks(path).filter(({ again }) => again === true).length;
        const round = Number(way.key);
        if (round >= rounds) return 'the round has not begun';
        // What an earlier round left behind may go on.
        return round === rounds - 1 || hasLoose(node.loop.do) ? undefined : 'a later one has begun';
      }
      case 'catch': {
        if (way.kind === 'try') return undefined;
        const end = endOf(node.try, under(path, 'try'));
        if (end !== 'failed') return `what is tried has not failed: ${end}`;
        return clauseOf(node, path) === Number(way.key) ? undefined : 'another clause is meant';
      }
    }
  };
  return { endOf, objection };
}

/** The nodes of a structure as they are, or were, in a job. */
function childrenIn(
  node: Structure,
  path: string,
  marks: readonly { readonly [key: string]: unknown }[],
): Children {
  const listed = (kind: string, nodes: readonly Node[]): Children =>
    nodes.map((one, i) => [one, under(path, kind, i)]);
  switch (node.structure) {
    case 'sequence':
      return listed('sequence', node.sequence);
    case 'parallel':
      return listed('parallel', node.parallel);
    case 'batch': {
      const calls = (['on_success', 'on_failure', 'on_complete'] as const).flatMap((key) =>
        node[key] === undefined ? [] : [[node[key], under(path, key)] as const],
      );
      return [...listed('batch', node.batch), ...calls];
    }
    case 'graph':
      return Object.entries(node.graph).map(([name, one]) => [one, under(path, `graph.${name}`)]);
    case 'choice':
      return [
        ...listed(
          'choice',
          node.choice.map(({ then }) => then),
        ),
        ...(node.default === undefined ? [] : [[node.default, under(path, 'default')] as const]),
      ];
    case 'map': {
      const items = (marks.at(-1)?.['items'] ?? []) as readonly unknown[];
      return listed(
        'map',
        items.map(() => node.map.do),
      );
    }
    case 'loop': {
      const rounds = marks.filter(({ again }) => again === true).length;
      return rounds === 0 ? [] : [[node.loop.do, under(path, 'loop', rounds - 1)]];
    }
    case 'catch':
      return [
        ...listed(
          'catch',
          node.catch.map((clause) => clause.do),
        ),
        [node.try, under(path, 'try')],
      ];
  }
}

/** Something in it may go on when it is done. */
function hasLoose(node: Node): boolean {
  if (!isStructure(node)) return (node as Entry).decider !== undefined;
  if (['parallel', 'batch', 'graph', 'map'].includes(node.structure)) return true;
  return childrenOfAny(node).some(hasLoose);
}

function childrenOfAny(node: Structure): readonly Node[] {
  switch (node.structure) {
    case 'sequence':
      return node.sequence;
    case 'choice':
      return [...node.choice.map(({ then }) => then), ...(node.default ? [node.default] : [])];
    case 'loop':
      return [node.loop.do];
    case 'catch':
      return [node.try, ...node.catch.map((clause) => clause.do)];
    case 'parallel':
    case 'batch':
    case 'graph':
    case 'map':
      return [];
  }
}

type Way = {
  readonly kind: string;
  readonly key: string;
  readonly node: Node;
  readonly path: string;
};

function wayFrom(node: Structure, path: string, target: string): Way | undefined {
  const rest = path === '' ? target : target.slice(path.length + 1);
  const [first = '', second = ''] = rest.split('.');
  if (path === '' && node.structure === 'sequence') {
    const child = /^\d+$/.test(first) ? node.sequence[Number(first)] : undefined;
    return child && { kind: 'sequence', key: first, node: child, path: first };
  }
  const single = { on_success: 1, on_failure: 1, on_complete: 1, default: 1, try: 1 };
  if (first in single) {
    const child = (node as unknown as Record<string, Node>)[first];
    return child && { kind: first, key: first, node: child, path: under(path, first) };
  }
  const child = childOf(node, second);
  if (first !== node.structure || child === undefined) return undefined;
  return { kind: first, key: second, node: child, path: under(path, `${first}.${second}`) };
}

function childOf(node: Structure, key: string): Node | undefined {
  switch (node.structure) {
    case 'sequence':
      return node.sequence[Number(key)];
    case 'parallel':
      return node.parallel[Number(key)];
    case 'batch':
      return node.batch[Number(key)];
    case 'graph':
      return node.graph[key];
    case 'choice':
      return node.choice[Number(key)]?.then;
    case 'map':
      return node.map.do;
    case 'loop':
      return node.loop.do;
    case 'catch':
      return node.catch[Number(key)]?.do;
  }
}

function under(path: string, kind: string, i?: number): string {
  if (path === '' && kind === 'sequence') return String(i);
  const segment = i === undefined ? kind : `${kind}.${i}`;
  return path === '' ? segment : `${path}.${segment}`;
}

function isConditional({ when, guards = [] }: Structure): boolean {
  return when !== undefined || guards.length > 0;
}

/** Nodes beside each other: enough have succeeded, or so many failed that they cannot. */
function together(ends: readonly End[], needed: number, onFail: string | undefined): End {
  const done = ends.filter((end) => end === 'done').length;
  const failed = ends.filter((end) => end === 'failed').length;
  const open = ends.find((end) => end === 'busy') ?? ends.find((end) => end === 'idle');
  if (done >= needed) return 'done';
  if (ends.length - failed >= needed) return open ?? 'idle';
  if (onFail === 'cancel_rest') return 'failed';
  return open ?? (onFail === 'ignore' ? 'done' : 'failed');
}
