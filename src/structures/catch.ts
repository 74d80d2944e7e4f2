import { z } from 'zod';
import { matchesFailure } from '../model/failure-pattern.js';
import { nameSchema, namesSchema } from '../model/scalars.js';
import type { Failure } from '../model/step.js';
import {
  below,
  childPath,
  isWithin,
  type ChildNode,
  type Node,
  type Structure,
} from '../model/tree.js';
import type { Drawing } from './drawing.js';
import type { Kind } from './kind.js';
import { isBad, isGood, type NodeStates } from './node-state.js';
import { open, workOf, type Interpreting, type Progress } from './progress.js';
import { withDo } from './written.js';

/** What follows one kind of failure; without `errors`, any failure. */
export type CatchClause = {
  readonly errors?: readonly string[] | '*';
  readonly do: Node;
  /** The name under which the branch sees the failure among the results. */
  readonly as?: string;
};

export type Catch = Structure & {
  readonly structure: 'catch';
  readonly try: Node;
  readonly catch: readonly CatchClause[];
};

const errorsText = 'must be "*" or a list of names or codes of failures';

/** The schema of the clauses, which stand beside what they are for; `node` is that of a node. */
export function clausesSchema(node: z.ZodType): z.ZodType {
  return z
    .array(
      z.looseObject(
        {
          errors: z.exactOptional(
            z
              .union([z.literal('*', { error: errorsText }), namesSchema], { error: errorsText })
              .describe('Names or codes of failures, * stands for any text; default: any failure.'),
          ),
          do: node,
          as: z.exactOptional(
            nameSchema.describe('Name under which the branch sees the failure in "results".'),
          ),
        },
        { error: 'must be {errors, do, as}' },
      ),
      { error: 'must be a list of {errors, do, as}' },
    )
    .min(1, { error: 'must have at least one {errors, do, as}' })
    .superRefine((clauses, context) => {
      const i = clauses.findIndex(({ errors = '*' }) => errors === '*');
      if (i < 0 || i === clauses.length - 1) return;
      const message = 'must have "errors", or be the last one: it catches every failure';
      context.addIssue({ code: 'custom', path: [i], message, params: { isComplete: true } });
    })
    .describe(
      'What goes on in place of a node that failed for good: the first clause that matches.',
    );
}

/**
 * Tries a node. When it fails for good, the first clause that matches the failure goes on in its
 * place, with the failure in scope, and its result is that of the node. A cancelled step is not
 * caught. In a further run of the flow a branch that was begun goes on, as long as what was tried is
 * not to be done again.
 */
export const caught: Kind<Catch> = {
  written: {
    shape: ({ node, clauses }) => ({ try: node, catch: clauses }),
    beside: ['try'],
    inside: ['errors', 'do', 'as'],
    normalised: (it, toNode) => ({
      try: toNode(it['try']),
      catch: (it['catch'] as readonly unknown[]).map((clause) => withDo(clause, toNode)),
    }),
  },
  children,

  progress(node, path, interpreting) {
    const { steps, visit } = interpreting;
    const tried = visit(node.try, triedPath(path));
    const clause = clauseFor(node, failureOf(tried, node, path, interpreting));
    if (clause < 0) return tried;
    const left = tried.kind === 'failed' ? [tried] : [];
    if (steps.isBusyBelow(triedPath(path))) return { ...open, ...workOf(left) };
    const branch = visit((node.catch[clause] as CatchClause).do, branchPath(path, clause));
    return { ...branch, ...workOf([...left, branch]) };
  },

  isConcurrent: false,
  isAfter: (_node, one, other) => one.key === 'catch' && other.key === 'try',

  results: {
    isGroup: false,
    parts: (node, path, steps) =>
      children(node, path).filter(
        ({ path: at }) => at === triedPath(path) || steps.lastRunBelow(at) !== undefined,
      ),
    /** A branch takes the place of what was tried. */
    value(values) {
      const [tried, branch] = values;
      return (branch ?? tried)?.[1];
    },
    /** What a branch returned is the result of the entry that it stands in for. */
    enterLists(node, path, scope) {
      const isRecovered = children(node, path).some(
        ({ path: at }) => at !== triedPath(path) && scope.steps.lastRunBelow(at) !== undefined,
      );
      const value = isRecovered ? scope.valueOf(node, path) : undefined;
      if (value !== undefined) scope.enterAt(triedPath(path), value);
    },
    addBefore(node, path, target, scope) {
      const clause = node.catch.findIndex((_, i) => isWithin(target, branchPath(path, i)));
      if (clause < 0) return scope.addBefore(node.try, triedPath(path), target);
      const { as, do: branch } = node.catch[clause] as CatchClause;
      scope.add(node.try, triedPath(path));
      if (as !== undefined) scope.name({ [as]: scope.caughtAt(target) });
      scope.addBefore(branch, branchPath(path, clause), target);
    },
  },

  namedResults: ({ catch: clauses }) => clauses.flatMap(({ as }) => as ?? []),

  words: () => ({ label: 'catch', notes: [] }),
  draw: drawTried,

  state(node, path, states, situation) {
    const { isOver, wentOn } = situation;
    const failure = shownFailure(path, states);
    // A branch that was skipped by hand, and is not for this failure, stands in for nothing.
    const begun = node.catch.findLastIndex((_, i) => {
      const at = branchPath(path, i);
      const isFor = failure === undefined || clauseFor(node, failure) === i;
      return states.hasRun(at) || (isFor && states.hasBegun(at));
    });
    const behind = { isOver: isOver || begun >= 0, wentOn: false };
    const tried = states.visit(node.try, triedPath(path), behind);
    const isPast = begun >= 0 || isGood(tried);
    const branches = node.catch.map((clause, i) => {
      const inside = i === begun ? situation : { isOver: isOver || isPast, wentOn };
      return states.visit(clause.do, branchPath(path, i), inside);
    });
    if (!isBad(tried)) return tried;
    const branch = branches[begun];
    if (branch === undefined) {
      const isPassed = wentOn || (tried === 'failed' && passesOver(node, failure, states));
      return isPassed ? 'recovered' : tried;
    }
    return branch === 'done' || branch === 'skipped' ? 'recovered' : branch;
  },
};

/** The path of what is tried by the catch at a path. */
export function triedPath(path: string): string {
  return below(path, 'try');
}

function branchPath(path: string, clause: number): string {
  return childPath(path, 'catch', clause);
}

function children(node: Catch, path: string): readonly ChildNode[] {
  return [
    { node: node.try, path: triedPath(path), keys: ['try'] },
    ...node.catch.map((clause, i) => ({
      node: clause.do,
      path: branchPath(path, i),
      keys: ['catch', i, 'do'],
    })),
  ];
}

/** The failure of what was tried, in this run or when the one before it ended; a cancel is none. */
function failureOf(
  tried: Progress,
  node: Catch,
  path: string,
  { visitBefore }: Interpreting,
): Failure | undefined {
  const at = tried.kind === 'open' ? visitBefore(node.try, triedPath(path)) : tried;
  if (at?.kind !== 'failed' || at.step.state === '$$cancelled') return undefined;
  return at.step.failure;
}

/** The number of the first clause for a failure; -1: none. */
function clauseFor(node: Catch, failure: Failure | undefined): number {
  if (failure === undefined) return -1;
  return node.catch.findIndex(
    ({ errors = '*' }) =>
      errors === '*' || errors.some((pattern) => matchesFailure(pattern, failure)),
  );
}

/** The failure of what was tried, where that is a step. */
function shownFailure(path: string, states: NodeStates): Failure | undefined {
  const at = triedPath(path);
  const step = states.below(at, ['decision']).at(-1) ?? states.last(at);
  return (step as { readonly failure?: Failure } | undefined)?.failure;
}

/** Whether the clause for a failure has nothing to do, so that no step tells of it. */
function passesOver(node: Catch, failure: Failure | undefined, states: NodeStates): boolean {
  const clause = clauseFor(node, failure ?? { name: '', message: '' });
  return clause >= 0 && states.hasNoSteps((node.catch[clause] as CatchClause).do);
}

function drawTried(node: Catch, path: string, { node: draw, connect, meet }: Drawing) {
  const ways = children(node, path).map((child) => draw(child.node, child.path));
  for (const [i, way] of ways.entries()) {
    connect([{ id: path }], way.entries, i === 0 ? undefined : labelOf(node.catch[i - 1]));
  }
  return meet(ways.flatMap(({ exits }) => exits));
}

function labelOf(clause: CatchClause | undefined): string {
  const { errors = '*' } = clause as CatchClause;
  return errors === '*' ? 'on a failure' : `on ${errors.join(', ')}`;
}
