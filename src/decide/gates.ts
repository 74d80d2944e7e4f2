import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type Failure, type Step } from '../model/step.js';
import { conditionsOf, isTrue } from './conditions.js';
import { attemptsOf, withNewStep } from './history.js';
import { leavesIn } from './leaves.js';
import { lookUp, type Move, type Question, type TemplateContext, type World } from './intent.js';
import { marksAt, type Mark } from './marks.js';
import { resultsBefore } from './results.js';
import { scopeOf } from './scope.js';
import type { Gate } from './structure/progress.js';

/**
 * Finds out what a structure asks before it goes on (its conditions, the case of a choice, the list
 * of a map, another round of a loop) and writes the answer into the steps, where it stays.
 */
export function gateMove(job: LiveJob, gate: Gate, now: number, world: World): Move {
  const asked = questionsOf(job, gate);
  const open = asked.filter(({ id }) => !world.answers.has(id));
  if (open.length > 0) return lookUp({ questions: open });
  const answered = verdictOf(job, gate, world);
  return { kind: 'change', job: withNewStep(job, markStep(job, gate, answered, now)) };
}

type Verdict =
  | { readonly kind: 'mark'; readonly mark: Mark }
  | { readonly kind: 'skip' }
  | { readonly kind: 'fail'; readonly failure: Failure; readonly exit: number };

function verdictOf(job: LiveJob, gate: Gate, world: World): Verdict {
  const { node, path } = gate;
  for (const { at } of firstTime(job, gate) ? conditionsOf(node) : []) {
    const answer = answerTo(world, `${path}.${at}`);
    if (!answer.ok) return unanswered(answer.at, answer.reason);
    if (!isTrue(answer.value)) return { kind: 'skip' };
  }
  switch (node.structure) {
    case 'choice': {
      for (const i of node.choice.keys()) {
        const answer = answerTo(world, `${path}.choice[${i}].when`);
        if (!answer.ok) return unanswered(answer.at, answer.reason);
        if (isTrue(answer.value)) return { kind: 'mark', mark: { chosen: i } };
      }
      return { kind: 'mark', mark: { chosen: node.default === undefined ? null : 'default' } };
    }
    case 'map': {
      if (typeof node.map.over !== 'string')
        return { kind: 'mark', mark: { items: node.map.over } };
      const answer = answerTo(world, `${path}.map.over`);
      if (!answer.ok) return unanswered(answer.at, answer.reason);
      const items = listFrom(answer.value);
      if (items !== undefined) return { kind: 'mark', mark: { items } };
      const why = failure('OverInvalid', { at: answer.at, kind: typeof answer.value });
      return { kind: 'fail', failure: why, exit: exits.definition };
    }
    case 'loop':
      return roundOf(job, node.loop, path, world);
    case 'sequence':
    case 'parallel':
    case 'batch':
    case 'graph':
      return { kind: 'mark', mark: {} };
  }
}

/** JSONata gives nothing for an empty list, and the item itself for a list of one. */
function listFrom(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  return typeof value === 'object' ? [value] : undefined;
}

function roundOf(
  job: LiveJob,
  { while: condition, max }: { readonly while?: string; readonly max: number },
  path: string,
  world: World,
): Verdict {
  const rounds = marksAt(job, path).filter(({ again }) => again === true).length;
  if (condition === undefined) return { kind: 'mark', mark: { again: rounds < max } };
  const answer = answerTo(world, `${path}.loop.while`);
  if (!answer.ok) return unanswered(answer.at, answer.reason);
  const again = isTrue(answer.value);
  if (!again || rounds < max) return { kind: 'mark', mark: { again } };
  const why = failure('LoopLimit', { at: answer.at, max });
  return { kind: 'fail', failure: why, exit: exits.failed };
}

function answerTo(world: World, at: string) {
  const answer = world.answers.get(at);
  return { at, ...(answer ?? { ok: false as const, reason: 'it was not asked' }) };
}

function unanswered(at: string, reason: string): Verdict {
  const why = failure('ExpressionError', { at, reason });
  return { kind: 'fail', failure: why, exit: exits.definition };
}

function firstTime(job: LiveJob, { path }: Gate): boolean {
  return marksAt(job, path).length === 0;
}

function questionsOf(job: LiveJob, gate: Gate): readonly Question[] {
  const { node, path } = gate;
  const own = firstTime(job, gate) ? conditionsOf(node) : [];
  const asked = [...own, ...expressionsOf(gate)];
  if (asked.length === 0) return [];
  const context = contextOf(job, gate);
  return asked.map(({ at, expression }) => ({ id: `${path}.${at}`, expression, context }));
}

type Asked = { readonly at: string; readonly expression: string };

function expressionsOf({ node }: Gate): readonly Asked[] {
  switch (node.structure) {
    case 'choice':
      return node.choice.map(({ when }, i) => ({ at: `choice[${i}].when`, expression: when }));
    case 'map':
      return typeof node.map.over === 'string'
        ? [{ at: 'map.over', expression: node.map.over }]
        : [];
    case 'loop':
      return node.loop.while === undefined
        ? []
        : [{ at: 'loop.while', expression: node.loop.while }];
    case 'sequence':
    case 'parallel':
    case 'batch':
    case 'graph':
      return [];
  }
}

/** A loop sees its last round as well as what is before it. */
function contextOf(job: LiveJob, { node, path }: Gate): TemplateContext {
  const rounds = marksAt(job, path).filter(({ again }) => again === true).length;
  const inside = node.structure === 'loop' ? `${path}.loop.${rounds}` : path;
  const { results, parent_results } = resultsBefore(job, inside.replace(/^\./, ''));
  const round = node.structure === 'loop' ? { round: rounds } : {};
  const step = { path, name: node.name ?? node.structure };
  return {
    ...scopeOf(job, path),
    ...round,
    job,
    step,
    params: job.params ?? {},
    results,
    parent_results,
  };
}

function markStep(job: LiveJob, { node, path, phase }: Gate, verdict: Verdict, now: number): Step {
  const base = {
    index: leavesIn(job.tasks).firstIndex(path) ?? 0,
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
