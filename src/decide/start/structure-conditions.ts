import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, type Failure, type Step } from '../../model/step.js';
import { below } from '../../model/tree.js';
import { conditionsOf, isTrue } from '../../structures/conditions.js';
import type { Answered, Conclusion, Failing } from '../../structures/kind.js';
import { kindOf } from '../../structures/kinds.js';
import { marksAt } from '../../structures/marks.js';
import type { Condition } from '../../structures/progress.js';
import { unevaluated } from './conditions.js';
import { mostConditions } from './effort.js';
import { failureFor } from './failure-for.js';
import { attemptsOf, jobSteps } from '../../reading/attempts.js';
import { withNewStep } from '../steps.js';
import { firstIndexAt } from '../../reading/entries.js';
import { resultsFor } from './prepare.js';
import { lookUp, type Query, mergeQueries } from '../queries.js';
import type { Move } from '../intent.js';
import type { TemplateContext, World } from '../world.js';
import { withProblem } from './noted.js';
import { overOf } from './over.js';
import { scopeOf } from '../../reading/results.js';
import { withFlowFailed } from '../finish/too-many.js';

/**
 * Evaluates what structures ask before they continue (their conditions, the case of a choice, the
 * list of a map, another round of a loop) and writes the answers as steps, where they stay.
 */
export function structureConditionsMove(
  job: LiveJob,
  conditions: readonly Condition[],
  now: number,
  world: World,
): Move {
  const queries: Query[] = [];
  let marked = job;
  for (const condition of conditions.slice(0, mostConditions)) {
    const asks = condition.unfit === undefined ? asksOf(job, condition) : [];
    const open = asks.filter(({ id }) => !world.answers.has(id));
    if (open.length > 0) {
      const { context, missing } = contextOf(job, condition, world);
      const questions = open.map(({ id, expression }) => ({ id, expression, context }));
      queries.push(missing.length > 0 ? lookUp({ attachments: missing }) : lookUp({ questions }));
    } else {
      const verdict = verdictOf(marked, condition, asks, world);
      if (verdict.kind === 'fail_flow') {
        const failed = withFlowFailed(marked, condition.path, verdict.failure, now);
        return { kind: 'change', job: failed };
      }
      const noted = withConditionProblem(marked, condition, verdict);
      marked = withNewStep(noted, markStep(job, condition, verdict, now));
    }
  }
  if (marked !== job) return { kind: 'change', job: marked };
  return mergeQueries(queries);
}

type Verdict = Conclusion | { readonly kind: 'skip' };

type OwnVerdict = Exclude<Verdict, { kind: 'fail_flow' }>;

function verdictOf(
  job: LiveJob,
  condition: Condition,
  asks: readonly Asked[],
  world: World,
): Verdict {
  const { node, path, phase, unfit } = condition;
  if (unfit !== undefined) return unfitRecord(condition, unfit);
  const answerTo = (ask: Asked | undefined): Answered => answerOf(ask as Asked, world);
  for (const ask of asks.filter(({ of }) => of === 'condition')) {
    const answer = answerTo(ask);
    if (!answer.ok) return answer.failed;
    if (!isTrue(answer.value)) return { kind: 'skip' };
  }
  const own = asks.filter(({ of }) => of === 'rule');
  const { finding } = kindOf(node);
  if (finding === undefined) return { kind: 'mark', mark: {} };
  const judgeList = (items: readonly unknown[]): Conclusion => overOf(job, condition, items);
  const marks = marksAt(jobSteps(job), path);
  return finding.conclude(node, (n) => answerTo(own[n]), { path, phase, marks, judgeList });
}

/**
 * Returns the failure of a structure whose recorded answer does not match the rest of the job. A
 * further run of the job evaluates it again.
 */
function unfitRecord({ node, path }: Condition, reason: string): Failing {
  const what = `${node.structure} "${node.name ?? path}"`;
  return { kind: 'fail', failure: failure('MarkUnfit', { what, reason }), exit: exits.definition };
}

/** The answer to an expression, which is known. */
function answerOf({ id }: Asked, { answers }: World): Answered {
  const answer = answers.get(id);
  if (answer?.ok !== false) return { ok: true, value: answer?.value };
  return { ok: false, failed: { kind: 'fail', ...unevaluated(id, answer) } };
}

/** The job with a problem where a record does not fit, or where the structure has found one. */
function withConditionProblem(job: LiveJob, { unfit }: Condition, verdict: OwnVerdict): LiveJob {
  const path = `steps[${job.steps.length}]`;
  if (verdict.kind === 'mark' && verdict.problem !== undefined) {
    return withProblem(job, { path, message: verdict.problem });
  }
  if (unfit === undefined || verdict.kind !== 'fail') return job;
  const { problems = [] } = job;
  return { ...job, problems: [...problems, { path, message: verdict.failure.message }] };
}

/** An expression that must be evaluated; `id` is where it stands, and in which round of a loop. */
type Asked = {
  readonly id: string;
  readonly expression: string;
  /** Whether the structure begins at all, or how it goes on. */
  readonly of: 'condition' | 'rule';
};

function asksOf(job: LiveJob, { node, path }: Condition): readonly Asked[] {
  const marks = marksAt(jobSteps(job), path);
  const conditions = marks.length === 0 ? conditionsOf(node) : [];
  const rules = kindOf(node).finding?.asks(node, marks) ?? [];
  const asked = (of: Asked['of'], all: typeof rules) =>
    all.map(({ at, expression }): Asked => ({ id: below(path, at), expression, of }));
  return [...asked('condition', conditions), ...asked('rule', rules)];
}

function contextOf(
  job: LiveJob,
  { node, path, phase }: Condition,
  { contents }: World,
): { readonly context: TemplateContext; readonly missing: readonly string[] } {
  const marks = marksAt(jobSteps(job), path);
  const from = kindOf(node).finding?.seenFrom?.(path, marks) ?? { path, scope: {} };
  const seen = resultsFor(job, { path: from.path, phase }, contents);
  const { results, parent_results, missing } = seen;
  const context = {
    ...scopeOf(job, path),
    ...from.scope,
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
  { node, path, phase }: Condition,
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
      const why: Failure = { ...verdict.failure, step: base.name };
      return { ...base, state: '$$error', exit: verdict.exit, failure: why };
    }
  }
}
