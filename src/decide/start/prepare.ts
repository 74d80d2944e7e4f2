import { mayHoldTemplate } from '../../model/template.js';
import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isOfFlow, type Failure, type LiveStep, type Step } from '../../model/step.js';
import { failureFor } from './failure-for.js';
import { attemptsOf } from '../../reading/attempts.js';
import type { TemplateContext, World } from '../world.js';
import {
  resultsAround,
  resultsBefore,
  scopeOf,
  type Contents,
  type Results,
} from '../../reading/results.js';
import { formTold } from '../../reading/form-told.js';
import type { Beginning } from '../../structures/progress.js';
import { mapStdio, writtenParams } from './params.js';

/**
 * What a step works with before templates are rendered: parameters, the results it sees, its scope.
 */
export type Input = Results & {
  readonly params: Readonly<Record<string, unknown>>;
  /** `item`, `index`, `round`: what the maps and loops around it add. */
  readonly scope: Readonly<Record<string, unknown>>;
};

/** A step to begin; `params` when they are not simply those of the job. */
export type Filling = Beginning & { readonly params?: Readonly<Record<string, unknown>> };

/** Why an attempt failed before any engine began it. */
export type Unbegun = { readonly failure: Failure; readonly exit: number };

/**
 * The rendered parameters of an attempt; or what is wrong with them; or the attachments that are
 * missing.
 */
export type Prepared =
  | {
      readonly ok: true;
      readonly params: Readonly<Record<string, unknown>>;
      /** Texts of the entry itself. */
      readonly texts: Readonly<Record<string, unknown>>;
    }
  | { readonly ok: false; readonly unbegun: Unbegun }
  /** Attachments whose contents must be known first. */
  | { readonly ok: false; readonly missing: readonly string[] };

/** What is filled in beside the parameters, and what is not. */
type Templates = {
  /** Texts of the entry itself that may hold templates. */
  readonly texts?: Readonly<Record<string, unknown>>;
  /** Parameters that the plugin renders itself. */
  readonly untouched?: readonly string[];
};

/** Maps results into the parameters of a step and renders its templates. */
export function prepare(
  job: LiveJob,
  beginning: Filling,
  world: World,
  { texts = {}, untouched = [] }: Templates,
): Prepared {
  const { leaf, phase } = beginning;
  const { params: given = writtenParams(job, beginning) } = beginning;
  if (leaf.entry.stdio === undefined && !mayHoldTemplate(JSON.stringify([given, texts]))) {
    return { ok: true, params: given, texts };
  }
  const input = inputOf(job, { ...beginning, params: given }, world.contents);
  if (input.missing.length > 0) return { ok: false, missing: input.missing };
  const { params, previous, results, parent_results, scope } = input;
  const mapped = mapStdio(params, leaf, previous === undefined ? job.params : previous);
  if (!mapped.ok) {
    return { ok: false, unbegun: { failure: mapped.failure, exit: exits.definition } };
  }
  const { path, index, name, entry } = leaf;
  const attempt = attemptsOf(job, path).length + 1;
  const step = { index, path, name, task: entry.task, attempt, run: job.run, phase };
  const seen = { params: mapped.params, results, parent_results };
  const context = { ...scope, ...templateContext(job, step, seen), ...formTold(job) };
  const filled = world.render(mapped.params, context, untouched);
  if (!filled.ok) return unfilled(`params.${filled.at}`, filled.reason);
  const rendered = world.render(texts, context, []);
  return rendered.ok
    ? { ok: true, params: filled.value, texts: rendered.value }
    : unfilled(rendered.at, rendered.reason);
}

/** What the templates of an attempt see that has begun, beside sensitive values; its parameters are rendered. */
export function contextOfAttempt(
  job: LiveJob,
  live: LiveStep,
  seen: Pick<Results, 'results' | 'parent_results'>,
): TemplateContext {
  const { params, index, path, name, task, attempt, run, phase } = live;
  const step = { index, path, name, task, attempt, run, phase };
  const { results, parent_results } = seen;
  const context = templateContext(job, step, { params, results, parent_results });
  return { ...scopeOf(job, path), ...context };
}

function templateContext(
  job: LiveJob,
  step: { readonly path: string },
  seen: Pick<TemplateContext, 'params' | 'results' | 'parent_results'>,
): TemplateContext {
  return { job, step, ...seen, ...failureFor(job, step) };
}

function unfilled(at: string, reason: string): Prepared {
  const why = failure('TemplateError', { at, reason });
  return { ok: false, unbegun: { failure: why, exit: exits.definition } };
}

/**
 * Returns the input of a step. A step of the flow sees the results before it; handlers and the
 * cancel branch see all of them.
 */
export function inputOf(job: LiveJob, beginning: Filling, contents?: Contents): Input {
  const { leaf, phase, params = writtenParams(job, beginning) } = beginning;
  const { path } = leaf;
  return { ...resultsFor(job, { path, phase }, contents), scope: scopeOf(job, path), params };
}

/** Returns the results that a step sees. */
export function resultsFor(
  job: LiveJob,
  { path, phase }: Pick<Step, 'path' | 'phase'>,
  contents?: Contents,
): Results {
  return isOfFlow(phase) ? resultsBefore(job, path, contents) : resultsAround(job, path, contents);
}
