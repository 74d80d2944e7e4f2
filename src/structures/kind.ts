import type { z } from 'zod';
import type { Failure, Phase, Step } from '../model/step.js';
import type { ChildNode, Leaf, Node, OnFail, Structure } from '../model/tree.js';
import type { Drawing, EdgeSource } from './drawing.js';
import type { Mark } from './marks.js';
import type { NodeState, NodeStates, Situation } from './node-state.js';
import type { Interpreting, Progress } from './progress.js';
import type { JobSteps } from './steps.js';

/**
 * What a kind of structure is: everything that the engine, the checks and the pages ask about it,
 * answered in the one file of the kind. `path` is that of the structure in a job (`2.map.17`), but in
 * `draw` that in the definition (`2.map.*`).
 */
export type Kind<N extends Structure = Structure> = {
  readonly written: Written;
  /**
   * The nodes right below it, top to bottom. What is repeated is there once, with `*` for the number.
   */
  readonly children: (node: N, path: string) => readonly ChildNode[];
  /** Its one node is gone through again and again: a number follows its word in paths. */
  readonly repeats?: Repeats<N>;
  /** Counts which of what it repeats failed; left out: the first failure ends it. */
  readonly countFailed?: (node: N, path: string, counting: Counting) => FailedCount;
  /** How far it has come. */
  readonly progress: (node: N, path: string, interpreting: Interpreting) => Progress;
  /** Nodes in it run beside each other: some may go on, or are to be cancelled, when it is done. */
  readonly isConcurrent: boolean;
  /** What a failure in it does to the others; undefined: what is usual. */
  readonly onFail?: (node: N) => OnFail | undefined;
  /** Left out: it goes on without anything being found out, but for its conditions. */
  readonly finding?: Finding<N>;
  /** Whether one of its nodes comes after another one. */
  readonly isAfter: (node: N, one: Place, other: Place) => boolean;
  /**
   * Whether its own steps, at these words below its path, are made again with one of its nodes; left
   * out: they are not.
   */
  readonly isRepeatedWith?: (other: Place, words: readonly string[]) => boolean;
  readonly results: ResultsOf<N>;
  /** Names that it gives to something among the results; left out: none. */
  readonly namedResults?: (node: N) => readonly string[];
  readonly words: (node: N) => KindWords;
  /** In a picture no frame is around it, and its head is done once something was found out about it. */
  readonly isFork?: boolean;
  /** Draws everything in it, below its head; returns where one goes on from it. */
  readonly draw: (node: N, path: string, drawing: Drawing) => readonly EdgeSource[];
  /** The state of the whole, from those of what is in it. */
  readonly state: (node: N, path: string, states: NodeStates, situation: Situation) => NodeState;
};

/** How users write it, and how that becomes the stored form. */
type Written = {
  /** The schema of its own key and of those beside it. */
  readonly shape: (schemas: NodeSchemas) => Readonly<Record<string, z.ZodType>>;
  /** The keys beside its own that other nodes must not have, because only some kinds read them. */
  readonly beside?: readonly string[];
  /** The keys that belong in the value of its own key. */
  readonly inside?: readonly string[];
  /** What it must keep beyond the form of its keys, which is right where this is asked. */
  readonly breaks?: (fields: Fields) => readonly RuleBreak[];
  /** The stored form of its own key and of those beside it that hold nodes. */
  readonly normalised: (fields: Fields, toNode: (written: unknown) => Node) => Fields;
};

/** How users may write a node: a task name, an entry, a list (a sequence) or a structure. */
export type WrittenNode = string | readonly WrittenNode[] | { readonly [key: string]: unknown };

export type Fields = Readonly<Record<string, unknown>>;

/** The schemas for nodes inside a structure. */
export type NodeSchemas = {
  readonly node: z.ZodType;
  /** A list of nodes. */
  readonly nodes: z.ZodType;
  /** A node of a graph: a node with `after`. */
  readonly graphNode: z.ZodType;
  /** What catches the failure of a node. */
  readonly clauses: z.ZodType;
};

/** A mistake in a structure: the keys that lead to it, and what it must be ("must …"). */
export type RuleBreak = {
  readonly keys: readonly (string | number)[];
  readonly message: string;
  /** The sentence says it all; false: the value that is wrong belongs to it. */
  readonly isComplete?: boolean;
};

/** Where a path leads inside a structure. */
export type Place = {
  /** The word before the number or name (`sequence`, `graph`), or the whole way (`default`). */
  readonly key: string;
  /** The number or name of the node; nothing where the word says it all. */
  readonly at: string;
};

/** What a structure repeats, by the number in its paths. */
export type Repeats<N extends Structure> = {
  /** What it adds to what templates and conditions inside see. */
  readonly scope: (node: N, number: number, mark: Mark | undefined) => Fields;
  /** Something of that number is, or was, to be done in this job. */
  readonly isThere: (path: string, number: number, steps: JobSteps) => boolean;
  /** One may have to wait for others to end. */
  readonly isLimited: (node: N) => boolean;
};

/** What counting needs: the steps of the job, and how far a node inside has come. */
export type Counting = {
  readonly steps: JobSteps;
  readonly progressOf: (node: Node, path: string) => Progress;
};

/** So many failed, cancellations aside; `tolerated`: so many may, in words (`2 %`). */
export type FailedCount = {
  readonly failed: number;
  readonly total: number;
  readonly tolerated?: string;
};

/** How a structure finds out how it goes on; the answer becomes a step. */
type Finding<N extends Structure> = {
  /** It is found out before anything in it begins; else when `progress` asks. */
  readonly isFirst: boolean;
  /** The expressions that must be evaluated, and where in the structure they stand. */
  readonly asks: (node: N, marks: readonly Mark[]) => readonly Ask[];
  /** What follows from the answers, which are in the order of `asks`. */
  readonly conclude: (node: N, answers: Answers, condition: Concluding) => Conclusion;
  /** What conditions inside see beside the results: the path that they stand at, and `round`. */
  readonly seenFrom?: (path: string, marks: readonly Mark[]) => Vantage;
  /**
   * Compares what is on record about it with itself and with the steps that belong to it: an engine
   * that believed a record which somebody has changed would leave out the rest of the work. Returns
   * what is wrong, or undefined where everything fits.
   *
   * A1 Records that an engine has written always match, in every run of a job.
   * A2 A list does not match with fewer or more items than were found or begun; nor does a round that is
   *    missing or was never begun, or a case (or the default) that was begun in addition to the chosen
   *    one, since the choice was last evaluated.
   * A3 A step in any case may be skipped by hand, before the choice is evaluated or after.
   */
  readonly mismatch: (node: N, path: string, steps: JobSteps) => string | undefined;
};

/** An expression, and its place in the structure (`choice[0].when`). */
export type Ask = { readonly at: string; readonly expression: string };

/** Returns the value of the n-th expression; later ones may never be asked for. */
export type Answers = (number: number) => Answered;
export type Answered =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failed: Failing };

/** Why a structure fails before anything in it begins. */
export type Failing = { readonly kind: 'fail'; readonly failure: Failure; readonly exit: number };

export type Concluding = {
  readonly path: string;
  readonly phase: Phase;
  readonly marks: readonly Mark[];
  /** Whether the job has room for a list, and how a map goes over it. */
  readonly judgeList: (items: readonly unknown[]) => Conclusion;
};

export type Conclusion =
  /** `problem`: what the job tells of it. */
  | { readonly kind: 'mark'; readonly mark: Mark; readonly problem?: string }
  | Failing
  /** Not the structure alone: others could go on no better. */
  | { readonly kind: 'fail_flow'; readonly failure: Failure };

export type Vantage = {
  readonly path: string;
  readonly scope: Readonly<Record<string, unknown>>;
};

/** How the results inside a structure are seen, inside it and after it. */
export type ResultsOf<N extends Structure> = {
  /** Behind it they stand together, at the position of its first entry. */
  readonly isGroup: boolean;
  /** The nodes whose values make up its own, as far as the job has come; left out: its children. */
  readonly parts?: (node: N, path: string, steps: JobSteps) => readonly ChildNode[];
  /** Its value, from those of its parts; undefined: it has none. */
  readonly value: (
    values: readonly (readonly [key: string, value: unknown])[],
    from: { readonly node: N; readonly path: string; readonly scope: ResultScope },
  ) => unknown;
  /** Enters the results of what is repeated in it, each as a list. */
  readonly enterLists?: (node: N, path: string, scope: ResultScope) => void;
  /** Enters what the entry at `target`, which is in it, sees of it. */
  readonly addBefore: (node: N, path: string, target: string, scope: ResultScope) => void;
};

/** The results that a step sees, while they are collected. */
export type ResultScope = {
  readonly steps: JobSteps;
  /** Enters everything in a node, which becomes what ended last. */
  readonly add: (node: Node, path: string) => void;
  /** Enters a node under its names and at its position. */
  readonly enter: (node: Node, path: string) => void;
  /** Enters what is before `target` in a node that has it in it. */
  readonly addBefore: (node: Node, path: string, target: string) => void;
  /** The same where `target` may be in any of several nodes. */
  readonly addBeforeIn: (children: readonly ChildNode[], target: string) => void;
  /** From now on these are all results by position, and together what ended last. */
  readonly startOver: (byPosition: Readonly<Record<string, unknown>>) => void;
  /** Sets results by name. */
  readonly name: (results: Readonly<Record<string, unknown>>) => void;
  readonly valueOf: (node: Node, path: string) => unknown;
  /** What became of a node: its value, or how it failed. */
  readonly endOf: (node: Node, path: string) => unknown;
  /** The results by name of a node alone. */
  readonly resultsIn: (node: Node, path: string) => Readonly<Record<string, unknown>>;
  /** The result of a step, from its attachment when it is kept there. */
  readonly resultOf: (step: Step) => unknown;
  /** Enters a value as the result of the node at a path, where that is an entry. */
  readonly enterAt: (path: string, value: unknown) => void;
  /** The failure for which the innermost catch around a path goes on there. */
  readonly caughtAt: (path: string) => unknown;
  readonly leafAt: (path: string) => Leaf | undefined;
};

/** The label of a structure without a name, and notes on how it runs what is in it. */
export type KindWords = { readonly label: string; readonly notes: readonly string[] };
