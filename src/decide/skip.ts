import { failure } from '../model/failures.js';
import { isFinal, isNew, type Job, type LiveJob } from '../model/job.js';
import { exits, isOpen, type Step } from '../model/step.js';
import { newAttempt } from './begin.js';
import { attemptsOf, completionOn, lastAttempt, withNewStep } from './history.js';
import { leafNamed, reopened } from './reopen.js';
import { cancelledSteps } from './stop.js';

type Skipped =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'refused'; readonly because: string };

/**
 * Leaves a step out: it counts as done. A running or waiting attempt of it ends; a job that failed
 * goes on behind it.
 */
export function skipped(job: Job, word: string, now: number): Skipped {
  if (isNew(job)) return refused(`Job ${job._id} has not begun; its steps are not known yet.`);
  const open = isFinal(job) ? reopened(job, {}, now) : { kind: 'applied' as const, job };
  if (open.kind === 'refused') return open;
  if (isNew(open.job) || isFinal(open.job)) return refused(`Job ${job._id} has no steps.`);
  return skipIn(open.job, word, now);
}

function skipIn(job: LiveJob, word: string, now: number): Skipped {
  const leaf = leafNamed(job, word);
  if (leaf === undefined) return refused(`Job ${job._id} has no step "${word}".`);
  if (/(^|\.)(map|loop)\.\*/.test(leaf.path)) {
    const because = `Step "${word}" stands in a map or a loop; name one attempt of it by its path.`;
    return refused(because);
  }
  const done = completionOn(job, leaf.path) ?? skipOf(job, leaf.path);
  if (done !== undefined) return refused(`Step "${word}" of job ${job._id} is done already.`);
  const isOfLine = ({ path }: Step): boolean =>
    path === leaf.path || path.startsWith(`${leaf.path}.`);
  const why = failure('Skipped', {});
  const stopped = cancelledSteps(job, (step) => isOpen(step) && isOfLine(step), why, now);
  const step: Step = {
    ...newAttempt(stopped, { leaf, phase: 'main' }),
    state: '$$skipped',
    end: now,
    exit: exits.success,
  };
  return { kind: 'applied', job: withNewStep(stopped, step) };
}

function skipOf(job: LiveJob, path: string): Step | undefined {
  const last = attemptsOf(job, path).length === 0 ? undefined : lastAttempt(job, path);
  return last?.state === '$$skipped' ? last : undefined;
}

function refused(because: string): Skipped {
  return { kind: 'refused', because };
}
