import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type Failure, type Step } from '../model/step.js';
import { below, childPath, type Structure } from '../model/tree.js';
import { conditionsOf, isTrue, unevaluated } from './conditions.js';
import { mostGates } from './effort.js';
import { failureFor } from './failure-seen.js';
import { attemptsOf, withNewStep } from './history.js';
import { firstIndexAt } from './leaves.js';
import { resultsFor } from './input.js';
import {
  lookUp,
  type Answer,
  type LookUp,
  type Move,
  type TemplateContext,
  type Unanswered,
  type World,
} from './intent.js';
import { marksAt, roundsOf, type Mark } from './marks.js';
import { withProblem } from './noted.js';
import { overOf } from './over.js';
import { mergeQueries } from './queries.js';
import { scopeOf } from './scope.js';
import type { Gate } from './structure/progress.js';
import { withFlowFailed } from './too-many.js';

/**
 * Finds out what structures ask before they go on (their conditions, the case of a choice, the list
 * of a map, another round of a loop) and writes the answers into the steps, where they stay.
 */
export function gatesMove(
  job: LiveJob,
  gates: readonly Gate[],
  now: number,
  world: World,
): Move | undefined {
  if (gates.length === 0) return undefined;
  const queries: LookUp[] = [];
  let marked = job;
  for (const gate of gates.slice(0, mostGates)) {
    const asks = gate.unfit === undefined ? asksOf(job, gate) : [];
    const open = asks.filter(({ id }) => !world.answers.has(id));
    if (open.length > 0) {
      const { context, missing } = contextOf(job, gate, world);
      const questions = open.map(({ id, expression }) => ({ id, expression, context }));
      queries.push(missing.length > 0 ? lookUp({ attachments: missing }) : lookUp({ questions }));
    } else {
      const { unfit } = gate;
      const verdict = unfit === undefined ? verdictOf(marked, gate, world) : misfit(gate, unfit);
      if (verdict.kind === 'fail_flow') {
        const failed = withFlowFailed(marked, gate.path, verdict.failure, now);
        return { kind: 'change', job: failed };
      }
      const noted = withGateProblem(marked, gate, world, verdict);
      marked = withNewStep(noted, markStep(job, gate, verdict, now));
    }
  }
  if (marked !== job) return { kind: 'change', job: marked };
  return mergeQueries(queries);
}

type Verdict =
  | { readonly kind: 'mark'; readonly mark: Mark }
  | { readonly kind: 'skip' }
  | { readonly kind: 'fail'; readonly failure: Failure; readonly exit: number }
  /** Not the structure alone: others could go on no better. */
  | { readonly kind: 'fail_flow'; readonly failure: Failure };

type OwnVerdict = Exclude<Verdict, { kind: 'fail_flow' }>;

/** The work goes on by no record that cannot be right; a further run of the job finds it out anew. */
function misfit({ node, path }: Gate, reason: string): Verdict {
  const what = `${node.structure} "${node.name ?? path}"`;
  return { kind: 'fail', failure: failure('MarkUnfit', { what, reason }), exit: exits.definition };
}

function verdictOf(job: LiveJob, gate: Gate, world: World): Verdict {
  const asks = asksOf(job, gate);
  const answerTo = (ask: Ask): Answer => world.answers.get(ask.id) as Answer;
  for (const ask of asks.filter(({ of }) => of === 'condition')) {
    const answer = answerTo(ask);
    if (!answer.ok) return unanswered(ask, answer);
    if (!isTrue(answer.value)) return { kind: 'skip' };
  }
  const { node, path } = gate;
  const own = asks.filter(({ of }) => of === 'rule');
  switch (node.structure) {
    case 'choice':
      for (const [i, ask] of own.entries()) {
        const answer = answerTo(ask);
        if (!answer.ok) return unanswered(ask, answer);
        if (isTrue(answer.value)) return { kind: 'mark', mark: { chosen: i } };
      }
      return { kind: 'mark', mark: { chosen: node.default === undefined ? null : 'default' } };
    case 'map': {
      const [ask] = own;
      return ask === undefined
        ? marked(job, gate, node.map.over as readonly unknown[])
        : itemsFrom(job, gate, ask, answerTo(ask));
    }
    case 'loop': {
      const [ask] = own;
      const rounds = roundsOf(job, path);
      return ask === undefined
        ? { kind: 'mark', mark: { again: rounds < node.loop.max, round: rounds } }
        : roundFrom(ask, answerTo(ask), rounds, node.loop.max);
    }
    case 'sequence':
    case 'parallel':
    case 'batch':
    case 'graph':
      return { kind: 'mark', mark: {} };
  }
}

function marked(job: LiveJob, gate: Gate, items: readonly unknown[]): Verdict {
  const over = overOf(job, gate, items);
  switch (over.kind) {
    case 'over': {
      const { slice } = over;
      const mark = { items, count: items.length, ...(slice === undefined ? {} : { slice }) };
      return { kind: 'mark', mark };
    }
    case 'too_long':
      return { kind: 'fail', failure: over.failure, exit: exits.definition };
    case 'too_large_together':
      return { kind: 'fail_flow', failure: over.failure };
  }
}

function itemsFrom(job: LiveJob, gate: Gate, ask: Ask, answer: Answer): Verdict {
  if (!answer.ok) return unanswered(ask, answer);
  const items = listFrom(answer.value);
  if (items !== undefined) return marked(job, gate, items);
  const why = failure('OverInvalid', { at: ask.id, kind: describe(answer.value) });
  return { kind: 'fail', failure: why, exit: exits.definition };
}

/** The job with a problem where a record does not fit, or where a map has found no list. */
function withGateProblem(job: LiveJob, gate: Gate, world: World, verdict: Verdict): LiveJob {
  if (gate.unfit === undefined || verdict.kind !== 'fail') return withEmptyList(job, gate, world);
  const { problems = [], steps } = job;
  const { message } = verdict.failure;
  return { ...job, problems: [...problems, { path: `steps[${steps.length}]`, message }] };
}

/** A list that is not there is often a misspelled one: the job says so, once for all rounds and items. */
function withEmptyList(job: LiveJob, { node, path }: Gate, world: World): LiveJob {
  if (node.structure !== 'map' || typeof node.map.over !== 'string') return job;
  const answer = world.answers.get(below(path, 'map.over'));
  if (answer === undefined || !answer.ok || answer.value !== undefined) return job;
  const { over } = node.map;
  const message = `"over" of the map ${node.name ?? `at ${path}`} (${over}) found nothing; the map has no items.`;
  return withProblem(job, { path: `steps[${job.steps.length}]`, message });
}

/** JSONata gives nothing for an empty list, and the item itself for a list of one. */
function listFrom(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  return ['object', 'string', 'number'].includes(typeof value) ? [value] : undefined;
}

function describe(value: unknown): string {
  return typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}

function roundFrom(ask: Ask, answer: Answer, round: number, max: number): Verdict {
  if (!answer.ok) return unanswered(ask, answer);
  const again = isTrue(answer.value);
  if (!again || round < max) return { kind: 'mark', mark: { again, round } };
  const why = failure('LoopLimit', { at: ask.id, max });
  return { kind: 'fail', failure: why, exit: exits.failed };
}

function unanswered({ id }: Ask, answer: Unanswered): Verdict {
  return { kind: 'fail', ...unevaluated(id, answer) };
}

/** An expression that must be evaluated; `id` is where it stands, and in which round of a loop. */
type Ask = {
  readonly id: string;
  readonly expression: string;
  /** Whether the structure begins at all, or how it goes on. */
  readonly of: 'condition' | 'rule';
};

function asksOf(job: LiveJob, { node, path }: Gate): readonly Ask[] {
  const isFirst = marksAt(job, path).length === 0;
  return [
    ...(isFirst ? conditionsOf(node) : []).map(({ at, expression }): Ask => ({
      id: below(path, at),
      expression,
      of: 'condition',
    })),
    ...rulesOf(job, node, path).map(([at, expression]): Ask => ({
      id: below(path, at),
      expression,
      of: 'rule',
    })),
  ];
}

function rulesOf(
  job: LiveJob,
  node: Structure,
  path: string,
): readonly (readonly [at: string, expression: string])[] {
  switch (node.structure) {
    case 'choice':
      return node.choice.map(({ when }, i) => [`choice[${i}].when`, when] as const);
    case 'map':
      return typeof node.map.over === 'string' ? [['map.over', node.map.over]] : [];
    case 'loop': {
      const { while: condition } = node.loop;
      return condition === undefined ? [] : [[`loop.${roundsOf(job, path)}.while`, condition]];
    }
    case 'sequence':
    case 'parallel':
    case 'batch':
    case 'graph':
      return [];
  }
}

/** A loop sees its last round as well as what is before it. */
function contextOf(
  job: LiveJob,
  { node, path, phase }: Gate,
  { contents }: World,
): { readonly context: TemplateContext; readonly missing: readonly string[] } {
  const rounds = roundsOf(job, path);
  const isLoop = node.structure === 'loop';
  const inside = isLoop ? childPath(path, 'loop', rounds) : path;
  const { results, parent_results, missing } = resultsFor(job, { path: inside, phase }, contents);
  const context = {
    ...scopeOf(job, path),
    ...(isLoop ? { round: rounds } : {}),
    job,
    step: { path, name: node.name ?? node.structure },
    params: job.params ?? {},
    results,
    parent_results,
    ...failureFor(job, { path }),
  };
  return { context, missing };
}

function markStep(
  job: LiveJob,
  { node, path, phase }: Gate,
  verdict: OwnVerdict,
  now: number,
): Step {
  const base = {
    index: firstIndexAt(job, path),
    path,
    name: node.name ?? node.structure,
    task: node.structure,
    structure: node.structure,
    attempt: attemptsOf(job, path).length + 1,
    run: job.run,
    phase,
    end: now,
  };
  switch (verdict.kind) {
    case 'skip':
      return { ...base, state: '$$skipped', exit: exits.success };
    case 'mark':
      return { ...base, state: '$$complete', exit: exits.success, result: verdict.mark };
    case 'fail': {
      const why = { ...verdict.failure, step: base.name };
      return { ...base, state: '$$error', exit: verdict.exit, failure: why };
    }
  }
}
