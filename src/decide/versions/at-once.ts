import { isCancelRequested, type LiveJob } from '../../model/job.js';
import { isFailed, isOpen } from '../../model/step.js';
import { isWithin } from '../../model/tree.js';
import { lastAttempt } from '../../reading/attempts.js';
import { flowTimeoutMs, hardDeadline, softDeadline } from '../../reading/clock.js';
import { definitionFor, definitionOf } from '../../reading/entries.js';
import { interpret } from '../../reading/progress.js';
import type { Beginning, Progress } from '../../structures/progress.js';
import { lengthOf } from '../../words.js';
import { firstAcceptedOf } from '../finish/fail.js';
import { readyAt } from '../waiting/ready.js';

/**
 * What ends or begins at once when a job goes by another definition, in sentences; nothing of it if the job stayed as
 * it is. `before` and `after`: the job as it is, and as it goes on after the move; `now`: epoch ms.
 */
export function atOnce(before: LiveJob, after: LiveJob, now: number): readonly string[] {
  if (isCancelRequested(after)) return [];
  const hard = lateText(before, after, (job) => hardDeadline(job) <= now);
  if (hard !== undefined) return [`${hard}: the job times out at once, and what runs is stopped.`];
  if (after.paused === true) return [];
  const soft = lateText(before, after, (job) => softDeadline(job, now) <= now);
  const both = { before: progressOf(before), after: progressOf(after) };
  const ends = ending({ before, after, both });
  if (ends !== undefined) return [ends];
  const late =
    soft === undefined ? [] : [`${soft}: no further step begins, and the job times out.`];
  return [
    ...late,
    ...unneededTexts(after, both),
    ...lastAttemptTexts(before, after, now),
    ...(soft === undefined ? beginningTexts({ before, after, both }, now) : []),
  ];
}

function progressOf(job: LiveJob): Progress {
  return interpret(job, job.tasks, 'main');
}

/** The flow's time is over in the one and not in the other. */
function lateText(
  before: LiveJob,
  after: LiveJob,
  isLate: (job: LiveJob) => boolean,
): string | undefined {
  if (isLate(before) || !isLate(after)) return undefined;
  return `The timeout of the flow (${lengthOf(flowTimeoutMs(after))}) is over`;
}

type Both = { readonly before: Progress; readonly after: Progress };
type Jobs = { readonly before: LiveJob; readonly after: LiveJob; readonly both: Both };

function ending({ before, after, both }: Jobs): string | undefined {
  if (isAllDone(after, both.after) && !isAllDone(before, both.before)) {
    return 'The job ends at once: nothing is left to do.';
  }
  if (both.after.kind !== 'failed' || both.before.kind === 'failed') return undefined;
  const { name, path } = both.after.step;
  return `The job fails at once: step ${path} (${name}) has failed, and nothing passes over that.`;
}

function isAllDone(job: LiveJob, { kind, begin, conditions }: Progress): boolean {
  return kind === 'done' && begin.length + conditions.length === 0 && !job.steps.some(isOpen);
}

/** Steps that run or wait and are not needed any more. */
function unneededTexts({ steps }: LiveJob, { before, after }: Both): readonly string[] {
  const isDropped = (path: string, { drop }: Progress): boolean =>
    drop.some((at) => isWithin(path, at));
  return steps
    .filter((step) => isOpen(step) && isDropped(step.path, after) && !isDropped(step.path, before))
    .map(({ path, name }) => `Step ${path} (${name}) is cancelled: it is not needed any more.`);
}

/** Steps that run, wait or are to be tried again, and whose time is over: they get no further attempt. */
function lastAttemptTexts(before: LiveJob, after: LiveJob, now: number): readonly string[] {
  const limit = (job: LiveJob, step: LiveJob['steps'][number]): number =>
    definitionFor(job, step)?.total_timeout ?? 0;
  return after.steps.flatMap((step) => {
    const isUnderWay = isOpen(step) || (isFailed(step) && step.due !== undefined);
    if (!isUnderWay || lastAttempt(after, step.path) !== step) return [];
    const isOver = (job: LiveJob): boolean => {
      const total = limit(job, step);
      return total > 0 && firstAcceptedOf(job, step, now) + total <= now;
    };
    if (!isOver(after) || isOver(before)) return [];
    const { path, name } = step;
    const total = lengthOf(limit(after, step));
    return [
      `Step ${path} (${name}) gets no further attempt: its total_timeout (${total}) is over.`,
    ];
  });
}

/** What may begin now and could not before. */
function beginningTexts({ before, after, both }: Jobs, now: number): readonly string[] {
  const readyIn = ({ begin }: Progress): readonly Beginning[] =>
    begin.filter(({ due = 0 }) => due <= now);
  const was = new Set(readyIn(both.before).map(({ leaf }) => leaf.path));
  const texts = readyIn(both.after).flatMap((one) => {
    const { path, name } = one.leaf;
    const late = acceptText(before, after, one, now);
    if (late !== undefined) return [late];
    return was.has(path) ? [] : [`Step ${path} (${name}) begins at once.`];
  });
  const known = structureTexts(both.before);
  return [...texts, ...structureTexts(both.after).filter((text) => !known.includes(text))];
}

function structureTexts({ conditions }: Progress): readonly string[] {
  return conditions.map(({ path, node }) => `The ${node.structure} at ${path} begins at once.`);
}

/** No engine took a step in the time that it has for that by the new definition. */
function acceptText(
  before: LiveJob,
  after: LiveJob,
  { leaf: { path, name, entry } }: Beginning,
  now: number,
): string | undefined {
  const limit = (job: LiveJob): number => definitionOf(job, entry)?.accept_timeout ?? 0;
  const isOver = (job: LiveJob): boolean =>
    limit(job) > 0 && readyAt(job, path) + limit(job) <= now;
  if (!isOver(after) || isOver(before)) return undefined;
  return `Step ${path} (${name}) times out at once: no engine took it within ${lengthOf(limit(after))} (accept_timeout).`;
}
