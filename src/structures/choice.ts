import { z } from 'zod';
import { conditionSchema, isTrue } from './conditions.js';
import { below, childPath, type ChildNode, type Node, type Structure } from '../model/tree.js';
import type { Drawing, EdgeSource } from './drawing.js';
import type { Fields, Kind, RuleBreak } from './kind.js';
import { foundBy, isWhole, markAt, marksAt, type StoredMark } from './marks.js';
import type { NodeState } from './node-state.js';
import { done } from './progress.js';
import { lastValue } from './results.js';
import type { JobSteps } from './steps.js';
import { nodesUnder } from './written.js';

export type Choice = Structure & {
  readonly structure: 'choice';
  readonly choice: readonly { readonly when: string; readonly then: Node }[];
  readonly default?: Node;
};

/**
 * Runs the first case whose condition holds, else the default, else nothing. A step records which.
 */
export const choice: Kind<Choice> = {
  written: {
    shape: ({ node }) => ({
      choice: z.array(
        z.looseObject(
          { when: conditionSchema, then: node },
          { error: 'must be {when: condition, then: node}' },
        ),
        { error: 'must be a list of {when, then}' },
      ),
      default: z.exactOptional(node),
    }),
    breaks: caseBreaks,
    normalised: (it, toNode) => ({
      choice: (it['choice'] as readonly Fields[]).map((one) => ({
        ...one,
        then: toNode(one['then']),
      })),
      ...nodesUnder(['default'], it, toNode),
    }),
  },
  children,

  progress(node, path, { steps, visit }) {
    const taken = takenIn(node, path, steps);
    return taken === undefined ? done : visit(taken.node, taken.path);
  },

  isConcurrent: false,
  isAfter: () => false,

  finding: {
    isFirst: true,
    asks: (node) =>
      node.choice.map(({ when }, i) => ({ at: `choice[${i}].when`, expression: when })),
    conclude(node, answers) {
      for (const i of node.choice.keys()) {
        const answer = answers(i);
        if (!answer.ok) return answer.failed;
        if (isTrue(answer.value)) return { kind: 'mark', mark: { chosen: i } };
      }
      return { kind: 'mark', mark: { chosen: node.default === undefined ? null : 'default' } };
    },
    mismatch: mismatch,
  },

  results: {
    isGroup: false,
    parts(node, path, steps) {
      const taken = takenIn(node, path, steps);
      return taken === undefined ? [] : [taken];
    },
    value: lastValue,
    addBefore: (node, path, target, scope) => scope.addBeforeIn(children(node, path), target),
  },

  words: () => ({ label: 'choice', notes: [] }),
  isFork: true,
  draw: drawCases,

  state(node, path, { visit, last }, { isOver, wentOn }) {
    const mark = foundBy(last(path));
    const chosen = casePath(path, mark?.['chosen']);
    let state: NodeState = isOver ? 'unreached' : 'pending';
    if (mark !== undefined) state = 'done';
    for (const child of children(node, path)) {
      const isChosen = child.path === chosen;
      const found = visit(child.node, child.path, {
        wentOn: wentOn && node.optional !== true,
        isOver: isOver || (mark !== undefined && !isChosen),
      });
      if (isChosen) state = found;
    }
    return state;
  },
};

/** A choice needs something to choose from. */
function caseBreaks({ choice: cases, default: otherwise }: Fields): readonly RuleBreak[] {
  const isEmpty = Array.isArray(cases) && cases.length === 0 && otherwise === undefined;
  const message = 'must have at least one {when, then}, or a "default" beside it';
  return isEmpty ? [{ keys: ['choice'], message }] : [];
}

function children(node: Choice, path: string): readonly ChildNode[] {
  const cases = node.choice.map(({ then }, i) => ({
    node: then,
    path: childPath(path, 'choice', i),
    keys: ['choice', i, 'then'],
  }));
  if (node.default === undefined) return cases;
  return [...cases, { node: node.default, path: below(path, 'default'), keys: ['default'] }];
}

/** Returns the path of the case that a mark names; undefined: it names none. */
export function casePath(path: string, chosen: unknown): string | undefined {
  if (chosen === 'default') return below(path, 'default');
  return typeof chosen === 'number' ? childPath(path, 'choice', chosen) : undefined;
}

/** The case that was taken of a choice that was found out; undefined: none was. */
function takenIn(node: Choice, path: string, steps: JobSteps): ChildNode | undefined {
  const taken = casePath(path, markAt(steps, path)?.chosen);
  return children(node, path).find((child) => child.path === taken);
}

function mismatch(node: Choice, path: string, steps: JobSteps): string | undefined {
  const { chosen } = marksAt(steps, path).at(-1) as StoredMark;
  const isCase = isWhole(chosen) && node.choice[chosen] !== undefined;
  const isDefault = chosen === 'default' && node.default !== undefined;
  if (!isCase && !isDefault && chosen !== null) return '"chosen" is none of its cases';
  // A retry that found the choice out anew may have taken another case than the runs before it.
  const run = Number(steps.last(path)?.run);
  const taken = casePath(path, chosen);
  const other = children(node, path).find(
    (child) => child.path !== taken && steps.wasBegun(child.path, run),
  );
  if (other === undefined) return undefined;
  const [kind, number] = other.keys;
  return `${kind === 'default' ? 'the default' : `case ${number}`} was begun, and "chosen" differs`;
}

function drawCases(node: Choice, path: string, { node: draw, connect, meet }: Drawing) {
  const exits: EdgeSource[] = [];
  for (const [i, child] of children(node, path).entries()) {
    const way = draw(child.node, child.path);
    connect([{ id: path }], way.entries, node.choice[i]?.when ?? 'otherwise');
    exits.push(...way.exits);
  }
  return meet(node.default === undefined ? [...exits, { id: path, label: 'otherwise' }] : exits);
}
