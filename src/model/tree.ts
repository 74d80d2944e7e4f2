import type { RetryInput } from './retry.js';
import type { JsonSchema } from './scalars.js';

/**
 * The structure of a flow. Every node has a `path` from the root (`0`, `2.parallel.1`); the state
 * of a node is never stored: it is computed from the steps that carry its path.
 */

/** Names of users or roles; templates are filled in. */
type Named = string | readonly string[];

/** A reminder: ms after the begin of the wait, or before an answer is due. */
type Reminder = number | { readonly before_due: number };

/** What a wait for people says beside its form. Durations are milliseconds. */
export type PeopleAsked = {
  readonly title?: string;
  readonly text?: string;
  /** Users who may answer. */
  readonly assignee?: Named;
  /** Roles of users who may answer. */
  readonly group?: Named;
  readonly due?: number;
  readonly remind?: Reminder | readonly Reminder[];
  readonly escalate?: {
    readonly after: number;
    readonly assignee?: Named;
    readonly group?: Named;
  };
  /** So long links by which users may answer are good; `false`: there are none. */
  readonly link?: number | false;
};

/** A wait for a person who approves or refuses. */
export type Approval = PeopleAsked & {
  /** `true`: a comment must be given; `false`: there is none. */
  readonly comment?: boolean;
  /** JSON Schema of further fields. */
  readonly form?: JsonSchema;
  readonly on_refuse?: 'fail' | 'continue';
  readonly signal?: string;
  readonly timeout?: number;
};

/** What an entry may wait for: a signal to this job, an event of a type and a key, or a person. */
export type WaitFor = PeopleAsked & {
  /** JSON Schema of the answer of a person. */
  readonly form?: JsonSchema;
  readonly signal?: string;
  readonly event?: string;
  /** Key of the event; templates are filled in. */
  readonly key?: string;
  /** JSONata over {event, job, params, results}: only an event for which it is true is taken. */
  readonly match?: string;
  /** Milliseconds; absent or 0: no limit. */
  readonly timeout?: number;
  /** JSON Schema of the data of the signal: others are refused, and the step waits on. */
  readonly schema?: JsonSchema;
  /** What the sender of the signal is answered: a JSONata expression, or the result of a later step. */
  readonly answer?: string | { readonly step: string };
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
  readonly approve?: Approval;
  readonly delay?: number | string;
  readonly flow?: string;
  /** The version of `flow` that is asked for. */
  readonly version?: string;
  readonly decider?: string;
  readonly finish?: true | { readonly result?: unknown; readonly exit?: number };
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

/** How many of several nodes must have succeeded. */
export type Join = 'all' | 'any' | number;

/** A node with others in it; `structure` is the word of its kind, which knows what else it has. */
export type Structure = Common & { readonly structure: string };
export type Node = Entry | Structure;

export function isStructure(node: Node): node is Structure {
  return 'structure' in node;
}

/** An entry that runs a task document; the built-in kinds need none. */
export function namesTask(entry: Entry): boolean {
  const { wait, approve, delay, flow, decider, finish, slices } = entry;
  return [wait, approve, delay, flow, decider, finish, slices].every((kind) => kind === undefined);
}

/** A node below another: its path, and the keys that lead to it in the document. */
export type ChildNode = {
  readonly node: Node;
  readonly path: string;
  readonly keys: readonly (string | number)[];
};

/** Path of a child: that of a sequence at the root is just its number (`0`), others are named. */
export function childPath(path: string, kind: string, at: number | string): string {
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

/** A path is that of a node, or of something in it or of a handler of it. */
export function isWithin(path: string, node: string): boolean {
  return node === '' || path === node || path.startsWith(`${node}.`);
}

/** A path and all paths above it: `0.map.*.x` -> itself, `0.map.*`, `0.map`, `0` and the root. */
export function pathsAbove(path: string): readonly string[] {
  const above = [path];
  for (let at = path.lastIndexOf('.'); at > 0; at = path.lastIndexOf('.', at - 1)) {
    above.push(path.slice(0, at));
  }
  return path === '' ? above : [...above, ''];
}
