import type { RetryInput } from './retry.js';

/**
 * The structure of a flow. Every node has a `path` from the root (`0`, `2.parallel.1`); the state
 * of a node is never stored: it is computed from the steps that carry its path.
 */

/** What an entry may wait for: a signal to this job, or an event of a type and a key. */
export type WaitFor = {
  readonly signal?: string;
  readonly event?: string;
  /** Key of the event; templates are filled in. */
  readonly key?: string;
  /** Milliseconds; absent or 0: no limit. */
  readonly timeout?: number;
};

/** Fields that every node may have. */
type Common = {
  readonly name?: string;
  readonly when?: string;
  readonly guards?: string | readonly string[];
  readonly optional?: boolean;
};

/**
 * A node that runs as one step: a task, or one of the built-in kinds, for which `task` is the word
 * under which people see it (`wait`, `delay`, the name of the flow, the name of the decider).
 */
export type Entry = Common & {
  readonly task: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly stdio?: Readonly<Record<string, string>>;
  readonly retry?: RetryInput;
  readonly timeout?: number;
  readonly heartbeat?: number;
  readonly error?: string;
  readonly undo?: string;
  readonly wait?: WaitFor;
  readonly delay?: number | string;
  readonly flow?: string;
  readonly decider?: string;
  /** Made by the engine for a decision: the path of its decider. */
  readonly decides?: string;
  /** Made by the engine: the job goes on as a new one. */
  readonly continues?: boolean;
  /** Only of the step in which a decider waits for a signal, when it asked for nothing else. */
  readonly news?: boolean;
  /** Made by the engine for a slice of a map: a child job goes over some of the items. */
  readonly slices?: boolean;
};

/** `wait`: the others go on; `cancel_rest`: they are cancelled; `ignore`: a failure counts as an end. */
export type OnFail = 'wait' | 'cancel_rest' | 'ignore';

/** How many of the nodes before must have succeeded. */
export type Join = 'all' | 'any' | number;

/** When a node of a graph begins: as `Join`, `done`: all ended, `none_failed`: all ended, none badly. */
export type GraphJoin = Join | 'done' | 'none_failed';

export type Sequence = Common & {
  readonly structure: 'sequence';
  readonly sequence: readonly Node[];
};
export type Parallel = Common & {
  readonly structure: 'parallel';
  readonly parallel: readonly Node[];
  readonly join?: Join;
  readonly on_fail?: OnFail;
  /** The others are cancelled as soon as enough have succeeded. */
  readonly cancel_rest?: boolean;
};
export type Batch = Common & {
  readonly structure: 'batch';
  readonly batch: readonly Node[];
  readonly on_fail?: OnFail;
  readonly on_success?: Node;
  readonly on_failure?: Node;
  readonly on_complete?: Node;
};
export type GraphNode = Node & {
  readonly after?: readonly string[];
  readonly join?: GraphJoin;
  readonly cancel_rest?: boolean;
};
export type Graph = Common & {
  readonly structure: 'graph';
  readonly graph: Readonly<Record<string, GraphNode>>;
  readonly on_fail?: OnFail;
};
export type Choice = Common & {
  readonly structure: 'choice';
  readonly choice: readonly { readonly when: string; readonly then: Node }[];
  readonly default?: Node;
};
export type MapOver = Common & {
  readonly structure: 'map';
  readonly map: {
    /** JSONata, or the list itself. */
    readonly over: string | readonly unknown[];
    /** Name of the item in templates and conditions; `item` always is one. */
    readonly as?: string;
    /** So many items at a time; absent or 0: all. */
    readonly limit?: number;
    /** A longer list is gone over by child jobs, so many items in each. */
    readonly slice?: number;
    /** So many items may fail: a number, or a share such as `10%`. */
    readonly tolerate?: number | string;
    readonly on_fail?: OnFail;
    readonly do: Node;
  };
};
export type Loop = Common & {
  readonly structure: 'loop';
  readonly loop: { readonly while?: string; readonly max: number; readonly do: Node };
};

export type Structure = Sequence | Parallel | Batch | Graph | Choice | MapOver | Loop;
export type Node = Entry | Structure;
export type StructureKind = Structure['structure'];

export function isStructure(node: Node): node is Structure {
  return 'structure' in node;
}

/** An entry that runs a task document; the built-in kinds need none. */
export function namesTask({ wait, delay, flow, decider, slices }: Entry): boolean {
  return [wait, delay, flow, decider, slices].every((kind) => kind === undefined);
}

/** A node below another: its path, and the keys that lead to it in the document. */
export type ChildNode = {
  readonly node: Node;
  readonly path: string;
  readonly keys: readonly (string | number)[];
};

/**
 * The nodes right below a structure, top to bottom. What is repeated (`map`, `loop`) is there once,
 * with `*` for the number.
 */
export function childrenOf(structure: Structure, path: string): readonly ChildNode[] {
  switch (structure.structure) {
    case 'sequence':
      return structure.sequence.map((node, i) => ({
        node,
        path: childPath(path, 'sequence', i),
        keys: ['sequence', i],
      }));
    case 'parallel':
      return listed(structure.parallel, 'parallel', path);
    case 'batch':
      return [
        ...listed(structure.batch, 'batch', path),
        ...callbacks.flatMap((key) => named(structure[key], key, [key], path)),
      ];
    case 'graph':
      return Object.entries(structure.graph).map(([name, node]) => ({
        node,
        path: childPath(path, 'graph', name),
        keys: ['graph', name],
      }));
    case 'choice':
      return [
        ...structure.choice.map(({ then }, i) => ({
          node: then,
          path: childPath(path, 'choice', i),
          keys: ['choice', i, 'then'],
        })),
        ...named(structure.default, 'default', ['default'], path),
      ];
    case 'map':
      return [{ node: structure.map.do, path: childPath(path, 'map', '*'), keys: ['map', 'do'] }];
    case 'loop':
      return [
        { node: structure.loop.do, path: childPath(path, 'loop', '*'), keys: ['loop', 'do'] },
      ];
  }
}

/** The callbacks of a batch, in the order in which they run. */
export const callbacks = ['on_success', 'on_failure', 'on_complete'] as const;

function listed(
  nodes: readonly Node[],
  key: 'parallel' | 'batch',
  path: string,
): readonly ChildNode[] {
  return nodes.map((node, i) => ({ node, path: childPath(path, key, i), keys: [key, i] }));
}

function named(
  node: Node | undefined,
  segment: string,
  keys: readonly string[],
  path: string,
): readonly ChildNode[] {
  return node === undefined ? [] : [{ node, path: below(path, segment), keys }];
}

/** Path of a child: that of a sequence at the root is just its number (`0`), others are named. */
export function childPath(path: string, kind: StructureKind, at: number | string): string {
  return path === '' && kind === 'sequence' ? String(at) : below(path, `${kind}.${at}`);
}

/** The path of something right below another path. */
export function below(path: string, segment: string): string {
  return path === '' ? segment : `${path}.${segment}`;
}

/** An entry at its place: `index` counts entries from the top of the definition, from 0. */
export type Leaf = {
  readonly path: string;
  readonly index: number;
  readonly name: string;
  readonly label: string;
  readonly entry: Entry;
};

/** A leaf with the keys that lead to it in the document. */
export type PlacedLeaf = Leaf & { readonly keys: readonly (string | number)[] };

/** All entries of a tree, top to bottom. `prefix` is put before every path (`cancel`). */
export function leavesOf(tree: Node, prefix = ''): readonly PlacedLeaf[] {
  const leaves: PlacedLeaf[] = [];
  const visit = (node: Node, path: string, keys: PlacedLeaf['keys']): void => {
    if (isStructure(node)) {
      for (const child of childrenOf(node, path)) {
        visit(child.node, child.path, [...keys, ...child.keys]);
      }
      return;
    }
    const index = leaves.length;
    const label = `${node.task}-${index}`;
    leaves.push({ path, index, name: node.name ?? node.task, label, entry: node, keys });
  };
  visit(tree, prefix, []);
  return leaves;
}

/** The names under which results of a tree are seen: of its entries, and of structures that have one. */
export function namesIn(node: Node): readonly string[] {
  if (!isStructure(node)) return [node.name ?? node.task];
  const inner = childrenOf(node, '').flatMap((child) => namesIn(child.node));
  return node.name === undefined ? inner : [node.name, ...inner];
}

/** The path in the definition of a path in a job: `2.map.17.sequence.1` -> `2.map.*.sequence.1`. */
export function definedPath(path: string): string {
  if (!path.includes('map.') && !path.includes('loop.')) return path;
  return path.replace(/(^|\.)(map|loop)\.\d+(?=\.|$)/g, '$1$2.*');
}

/** How deep structures are nested: 1 for a plain list of entries. */
export function depthOf(node: Node): number {
  if (!isStructure(node)) return 0;
  return 1 + Math.max(0, ...childrenOf(node, '').map((child) => depthOf(child.node)));
}
