import { z } from 'zod';
import { failure } from '../model/failures.js';
import { exits } from '../model/step.js';
import { conditionSchema, isTrue } from './conditions.js';
import { below, childPath, type ChildNode, type Node, type Structure } from '../model/tree.js';
import { drawInTurn } from './drawing.js';
import type { Answered, Conclusion, Kind } from './kind.js';
import { begunOutside, marksAt, type StoredMark, type Mark } from './marks.js';
import { brokenOff, runsOf, type NodeState } from './node-state.js';
import { done, open, workOf, type Progress, type Work } from './progress.js';
import { lastValue, numberBelow } from './results.js';
import { withDo } from './written.js';
import type { JobSteps } from './steps.js';

export type Loop = Structure & {
  readonly structure: 'loop';
  readonly loop: { readonly while?: string; readonly max: number; readonly do: Node };
};

const maxText = 'must be the most rounds the loop may take (1 to 10000)';

/**
 * Repeats a node while the condition holds, at most `max` times. Before each round a step records
 * whether it takes place. Work that an earlier round left in the background continues beside the
 * later ones.
 */
export const loop: Kind<Loop> = {
  written: {
    shape: ({ node }) => ({
      loop: z.looseObject(
        {
          while: z.exactOptional(conditionSchema),
          max: z.int({ error: maxText }).min(1, { error: maxText }).max(10_000, { error: maxText }),
          do: node,
        },
        { error: 'must be {while, max, do}' },
      ),
    }),
    inside: ['while', 'max', 'do'],
    normalised: ({ loop: own }, toNode) => ({ loop: withDo(own, toNode) }),
  },
  children,
  repeats: {
    scope: (_node, number) => ({ round: number }),
    isThere: (path, number, steps) => number < roundsOf(steps, path),
    isLimited: () => false,
  },

  progress(node, path, { steps, phase, visit, leavesWork }) {
    const marks = marksAt(steps, path);
    const rounds = roundsIn(marks);
    const visitRound = (round: number): Progress =>
      visit(node.loop.do, childPath(path, 'loop', round));
    const behind: Work[] = leavesWork(node.loop.do)
      ? Array.from({ length: Math.max(0, rounds - 1) }, (_, round) => visitRound(round))
      : [];
    const last = rounds === 0 ? done : visitRound(rounds - 1);
    const work = workOf([...behind, last]);
    if (last.kind !== 'done') return { ...last, ...work };
    if (marks.length > rounds) return { ...done, ...work };
    return { ...open, ...workOf([work, { ...open, conditions: [{ node, path, phase }] }]) };
  },

  isConcurrent: false,
  isAfter: (_node, one, other) => Number(one.at) > Number(other.at),
  /** What was found out about its rounds is asked again. */
  isRepeatedWith: () => true,

  finding: {
    isFirst: false,
    asks({ loop: { while: condition } }, marks) {
      return condition === undefined
        ? []
        : [{ at: `loop.${roundsIn(marks)}.while`, expression: condition }];
    },
    conclude({ loop: { while: condition, max } }, answers, { path, marks }) {
      const round = roundsIn(marks);
      return condition === undefined
        ? { kind: 'mark', mark: { again: round < max, round } }
        : nextRound(answers(0), { at: below(path, `loop.${round}.while`), round, max });
    },
    /** A loop sees its last round as well as what is before it. */
    seenFrom(path, marks) {
      const round = roundsIn(marks);
      return { path: childPath(path, 'loop', round), scope: { round } };
    },
    mismatch: mismatch,
  },

  results: {
    isGroup: false,
    parts({ loop: { do: each } }, path, steps) {
      const rounds = roundsOf(steps, path);
      if (rounds === 0) return [];
      return [{ node: each, path: childPath(path, 'loop', rounds - 1), keys: ['loop', 'do'] }];
    },
    value: lastValue,
    addBefore({ loop: { do: each } }, path, target, scope) {
      const round = numberBelow(target, below(path, 'loop'));
      if (round === undefined) return;
      if (round > 0) scope.add(each, childPath(path, 'loop', round - 1));
      scope.addBefore(each, childPath(path, 'loop', round), target);
    },
  },

  words({ loop: { while: condition, max } }) {
    const label = condition === undefined ? 'repeat' : `while ${condition}`;
    return { label, notes: [`at most ${max} times`] };
  },
  draw: (node, path, drawing) => drawInTurn(children(node, path), path, drawing),

  state({ loop: { do: each } }, path, states, situation) {
    const { visit, countRuns } = states;
    const { isOver, wentOn } = situation;
    const marks = marksAt(states, path);
    const rounds = roundsIn(marks);
    const isEnded = marks.length > rounds;
    if (rounds === 0) {
      const inside = { isOver: isOver || isEnded, wentOn: false };
      const state = visit(each, childPath(path, 'loop', '*'), inside);
      return isEnded ? 'done' : state;
    }
    const past = { isOver: true, wentOn: true };
    const all = Array.from({ length: rounds }, (_, round) => {
      const isPast = round < rounds - 1 || isEnded;
      return visit(each, childPath(path, 'loop', round), isPast ? past : situation);
    });
    countRuns(path, runsOf(all));
    const state = all.at(-1) as NodeState;
    if (isEnded || wentOn) return state;
    // An earlier round has run where nothing of the last one was reached.
    if (isOver && rounds > 1 && state === 'unreached') return 'cancelled';
    if (isOver) return brokenOff(true, state);
    return state === 'done' ? 'active' : state;
  },
};

function children({ loop: { do: each } }: Loop, path: string): readonly ChildNode[] {
  return [{ node: each, path: childPath(path, 'loop', '*'), keys: ['loop', 'do'] }];
}

/** Returns how many rounds of the loop at a path have begun. */
export function roundsOf(steps: Pick<JobSteps, 'at'>, path: string): number {
  return roundsIn(marksAt(steps, path));
}

function roundsIn(marks: readonly Mark[]): number {
  return marks.filter(({ again }) => again === true).length;
}

function nextRound(
  answer: Answered,
  { at, round, max }: { readonly at: string; readonly round: number; readonly max: number },
): Conclusion {
  if (!answer.ok) return answer.failed;
  const again = isTrue(answer.value);
  if (!again || round < max) return { kind: 'mark', mark: { again, round } };
  return { kind: 'fail', failure: failure('LoopLimit', { at, max }), exit: exits.failed };
}

function mismatch(_node: Loop, path: string, steps: JobSteps): string | undefined {
  const marks: readonly StoredMark[] = marksAt(steps, path).map((mark) => ({ ...mark }));
  const odd = marks.findIndex(({ again }) => typeof again !== 'boolean');
  if (odd >= 0) return `it does not say whether round ${odd} takes place ("again")`;
  const gap = marks.findIndex(({ round = null }, i) => round !== null && round !== i);
  if (gap >= 0) return `the record of round ${gap} is missing, or there are two`;
  const end = marks.findIndex(({ again }) => again === false);
  if (end >= 0 && end < marks.length - 1) return `it goes on after its end in round ${end}`;
  // What a retry asked to be done again has the loop begin anew, beside the rounds before that.
  if (steps.isRepeated(path)) return undefined;
  const total = roundsOf(steps, path);
  return begunOutside(steps, below(path, 'loop'), { from: 0, total, what: 'round' });
}
