import type { AnnouncedEvent } from '../../model/event.js';
import { isLiving } from '../../model/event.js';
import type { LiveJob } from '../../model/job.js';
import type { Step, WaitingStep } from '../../model/step.js';
import type { Leaf } from '../../model/tree.js';
import { leafAt } from '../../reading/entries.js';
import { definedPath } from '../../structures/paths.js';
import type { Move } from '../intent.js';
import { lookUp, type Question } from '../queries.js';
import { inputOf } from '../start/prepare.js';
import { withProblem } from '../start/noted.js';
import { withStep } from '../steps.js';
import type { World } from '../world.js';
import { releasedWait } from './released-wait.js';

/**
 * Ends a step that waits for an event, or asks what must be known first; undefined: there is none for it.
 *
 * N15 Only an event that lives is taken, by the time of this engine; one that no engine has handled yet lives.
 * N16 A wait takes the oldest event that its `match` accepts and that no earlier wait of the job took. Waits beside
 *    each other, and waits of other jobs, take the same one; the same place of the flow, when it runs again, may
 *    take it again. `event_id` of the step says which event it took.
 * N17 An event without an end of life is a fact: where there is nothing new, the latest one releases later waits,
 *    too.
 * N18 A `match` that cannot be evaluated, or that gives neither true nor false, takes no event. `problems` says so
 *    once for each place of the flow, and the step waits on.
 */
export function eventMove(
  job: LiveJob,
  step: WaitingStep,
  now: number,
  world: World,
): Move | undefined {
  const { event: type, key = '' } = step;
  if (type === undefined) return undefined;
  const found = world.event(type, key);
  if (found.kind === 'unknown') return lookUp({ events: [{ type, key }] });
  if (found.kind === 'absent') return undefined;
  const candidates = candidatesFor(job, step, found.events, now);
  const expression = leafAt(job, step.path)?.entry.wait?.match;
  const verdicts =
    expression === undefined
      ? candidates.map((event): Verdict => ({ event, isTaken: true }))
      : verdictsOf({ job, step, expression }, candidates, world);
  if ('kind' in verdicts) return verdicts;
  const taken = verdicts.find(({ isTaken }) => isTaken)?.event;
  if (taken !== undefined) {
    const ending = { ...step, event_id: taken.id };
    const holding = withStep(job, step, ending);
    return { kind: 'change', job: releasedWait(holding, ending, taken.data, now) };
  }
  const told = toldJob(job, step, verdicts);
  return told === job ? undefined : { kind: 'change', job: told };
}

/** The events that a step may take, the one that it takes first at the front (N15 to N17). */
function candidatesFor(
  job: LiveJob,
  step: WaitingStep,
  events: readonly AnnouncedEvent[],
  now: number,
): readonly AnnouncedEvent[] {
  const seen = new Set(
    job.steps.filter((other) => isEarlier(other, step)).map((other) => other['event_id']),
  );
  const living = events
    .filter((event) => isLiving(event, now))
    .toSorted((a, b) => timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1));
  const facts = living.filter(({ id, isFact }) => seen.has(id) && isFact === true);
  return [...living.filter(({ id }) => !seen.has(id)), ...facts.toReversed()];
}

/** One that no engine has handled yet is the latest. */
function timeOf({ at = Number.MAX_SAFE_INTEGER }: AnnouncedEvent): number {
  return at;
}

/** Whether a step took its event before another began to wait, not beside it. */
function isEarlier(other: Step, { path, accepted = 0 }: WaitingStep): boolean {
  if (other['event_id'] === undefined || other.path === path) return false;
  if (!isBeside(other.path, path)) return true;
  const { accepted: began = 0, end = Infinity } = other as {
    readonly accepted?: number;
    readonly end?: number;
  };
  return began < accepted && end <= accepted;
}

/** Words in paths of structures whose nodes run at the same time. */
const beside = ['parallel', 'batch', 'graph', 'map'];

/** Whether two paths part in a structure whose nodes run at the same time. */
function isBeside(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')];
  const parting = a.findIndex((part, i) => part !== b[i]);
  return beside.includes(a[parting - 1] ?? '');
}

type Verdict = {
  readonly event: AnnouncedEvent;
  readonly isTaken: boolean;
  /** Why `match` says nothing about it. */
  readonly problem?: string;
};

type Matching = {
  readonly job: LiveJob;
  readonly step: WaitingStep;
  readonly expression: string;
};

/** What `match` says about events; or what must be known first. */
function verdictsOf(
  { job, step, expression }: Matching,
  events: readonly AnnouncedEvent[],
  world: World,
): readonly Verdict[] | Extract<Move, { kind: 'look_up' }> {
  const { path, index, name, task, phase, params = {}, event: type, key = '' } = step;
  const idOf = ({ id, rev = '' }: AnnouncedEvent): string => `${path}.wait.match ${id} ${rev}`;
  const open = events.filter((event) => !world.answers.has(idOf(event)));
  if (open.length > 0) {
    const leaf = leafAt(job, path) as Leaf;
    const input = inputOf(job, { leaf, phase }, world.contents);
    if (input.missing.length > 0) return lookUp({ attachments: input.missing });
    const { results, parent_results, scope } = input;
    const seen = { params, results, parent_results };
    const context = { ...scope, job, step: { path, index, name, task }, ...seen };
    const questions = open.map((event): Question => {
      const { id, data } = event;
      return {
        id: idOf(event),
        expression,
        context: { ...context, event: { id, type, key, data } },
      };
    });
    return lookUp({ questions });
  }
  return events.map((event): Verdict => {
    const answer = world.answers.get(idOf(event));
    if (answer?.ok === false) return { event, isTaken: false, problem: answer.reason };
    const value = answer?.value ?? false;
    const problem =
      typeof value === 'boolean' ? {} : { problem: 'it gives neither true nor false' };
    return { event, isTaken: value === true, ...problem };
  });
}

/** The job with the first problem of `match` (N18). */
function toldJob(job: LiveJob, { path, name }: WaitingStep, verdicts: readonly Verdict[]): LiveJob {
  const failing = verdicts.find(({ problem }) => problem !== undefined);
  if (failing === undefined) return job;
  const at = `${definedPath(path)}.wait.match`;
  if (job.problems?.some((one) => one.path === at) === true) return job;
  const message = `The "match" of step "${name}" cannot be evaluated for event ${failing.event.id}: ${failing.problem}. The event is not taken, and the step waits on.`;
  return withProblem(job, { path: at, message });
}
