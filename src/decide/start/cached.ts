import { canonical } from '../../model/canonical.js';
import { referenceTo } from '../../model/big-result.js';
import { cachedResultPrefix } from '../../model/cached-result.js';
import type { LiveJob } from '../../model/job.js';
import { writtenSpanMs } from '../../model/span.js';
import { exits, type LiveStep, type Step } from '../../model/step.js';
import { ownerOf, pluginOf, type Task } from '../../model/task.js';
import type { Beginning } from '../../structures/progress.js';
import type { Begun } from '../intent.js';
import { lookUp } from '../queries.js';
import { newAttempt, withAttached, withBegun } from '../steps.js';
import type { World } from '../world.js';
import { failUnbegun } from './attempt.js';
import { unevaluated } from './conditions.js';
import { inputOf } from './prepare.js';

/** A step of a task, with the parameters that its plugin would be called with. */
type Filled = Beginning & { readonly task: Task; readonly params: Params };
type Params = Readonly<Record<string, unknown>>;

/**
 * Whether results of the step are kept: not what a decider decides, nor what undoes or handles something. Nor what a
 * task makes of sensitive values: two subjects have the same parameters, which only refer to them.
 */
export function isCached({ leaf, phase, task }: Beginning & { readonly task: Task }): boolean {
  if (task.cache === undefined || task.sensitive !== undefined) return false;
  return leaf.entry.decider === undefined && phase === 'main';
}

/**
 * Ends a step with a result that is kept, or asks for it; undefined: there is none, and the step runs.
 *
 * Z21 A result is used only by steps of the same owner, task, content of the task, code of the plugin and value of
 *    the key, as one hash: neither parameters nor secrets can be read in the id.
 * Z22 It is used while it lives, by the time of this engine. The step says from which job and step it is (`cached`).
 * Z23 A key that cannot be evaluated, or has no value, fails the step, as a condition does: else all steps without a
 *    value would share one result.
 */
export function cachedMove(
  job: LiveJob,
  step: Filled,
  now: number,
  world: World,
): Begun | undefined {
  const named = cacheOf(job, step, world);
  if (named.kind === 'ask') return named.query;
  if (named.kind === 'unfit') return failUnbegun(job, step, named.why, now);
  const { id } = named.cache;
  const found = world.cached(id);
  if (found.kind === 'unknown') return lookUp({ cached: [id] });
  if (found.kind === 'absent' || found.until <= now) return undefined;
  const { from, big, result } = found;
  const attempt = newAttempt(job, step);
  const kept = big === undefined ? result : referenceTo(attempt, big);
  const ended: Step = {
    ...attempt,
    state: '$$complete',
    plugin: pluginOf(step.task),
    params: { ...step.params },
    ...{ accepted: now, end: now, exit: exits.success },
    ...{ cache: named.cache, cached: from },
    ...(kept === undefined ? {} : { result: kept }),
  };
  const begun = withBegun(job, ended, now);
  return { kind: 'change', job: big === undefined ? begun : withAttached(begun, ended, big) };
}

type Named =
  | { readonly kind: 'named'; readonly cache: { readonly id: string; readonly ttl: number } }
  | { readonly kind: 'ask'; readonly query: Extract<Begun, { kind: 'look_up' }> }
  | { readonly kind: 'unfit'; readonly why: ReturnType<typeof unevaluated> };

/** Why a key that is null or missing is none. */
const noKey = { ok: false, reason: 'the key of "cache" has no value for this step' } as const;

/** What an attempt says of where its result is to be kept. */
export function cacheFor(job: LiveJob, step: Filled, world: World): Pick<LiveStep, 'cache'> {
  const named = isCached(step) ? cacheOf(job, step, world) : undefined;
  return named?.kind === 'named' ? { cache: named.cache } : {};
}

/** The document that keeps the result of a step, and for how long (ms); or what must be known first (Z21). */
function cacheOf(job: LiveJob, step: Filled, world: World): Named {
  const { leaf, task, params } = step;
  const { key: expression, ttl } = task.cache as NonNullable<Task['cache']>;
  const id = `${leaf.path}.cache.key`;
  if (expression !== undefined && !world.answers.has(id)) {
    const input = inputOf(job, step, world.contents);
    if (input.missing.length > 0)
      return { kind: 'ask', query: lookUp({ attachments: input.missing }) };
    const { results, parent_results, scope } = input;
    const { path, index, name } = leaf;
    const about = { path, index, name, task: leaf.entry.task };
    const context = { ...scope, job, step: about, params, results, parent_results };
    return { kind: 'ask', query: lookUp({ questions: [{ id, expression, context }] }) };
  }
  const answer = expression === undefined ? undefined : world.answers.get(id);
  if (answer?.ok === false) return { kind: 'unfit', why: unevaluated(id, answer) };
  const key = answer === undefined ? params : answer.value;
  if (key === undefined || key === null) return { kind: 'unfit', why: unevaluated(id, noKey) };
  const { cache: _cache, ...content } = task;
  const owner = ownerOf(job);
  const { hash } = world.me.facts(pluginOf(task));
  const definition = Object.entries(content).filter(([name]) => !name.startsWith('_'));
  const text = canonical([owner, task.name, definition, hash, expression ?? null, key]);
  const hashed = world.lockId(text).replace(/^lock:/, cachedResultPrefix);
  return { kind: 'named', cache: { id: hashed, ttl: writtenSpanMs(ttl) } };
}
