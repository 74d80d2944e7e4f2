import type { LiveJob } from '../../model/job.js';
import { isOfFlow, isOpen, type Step } from '../../model/step.js';
import { interpret } from '../../reading/progress.js';

/** What a job would go by. */
type OtherDefinition = Pick<LiveJob, 'tasks' | 'flow_definition' | 'definitions'>;

/**
 * MV6 What runs or waits, and what began last, could begin by the other definition, too: nothing that this one lets
 *     begin first is added before it, say in a structure that was done already.
 *
 * Returns the first step that could not; undefined: there is none.
 */
export function tooEarlyIn(job: LiveJob, next: OtherDefinition): Step | undefined {
  const own = job.steps.filter(({ run, phase }) => run === job.run && isOfFlow(phase));
  const open: readonly Step[] = own.filter(isOpen);
  const last = job.steps.lastIndexOf(own.at(-1) as Step);
  return (
    unofferedIn(job, next, {
      steps: job.steps.filter((step) => !open.includes(step)),
      wanted: open,
    }) ??
    unofferedIn(job, next, { steps: job.steps.slice(0, Math.max(0, last)), wanted: own.slice(-1) })
  );
}

type Moment = { readonly steps: readonly Step[]; readonly wanted: readonly Step[] };

/** Which of the steps `wanted` the job's own definition lets begin at a moment, and the other one does not. */
function unofferedIn(
  job: LiveJob,
  next: OtherDefinition,
  { steps, wanted }: Moment,
): Step | undefined {
  if (wanted.length === 0) return undefined;
  const own = offered({ ...job, steps });
  const others = offered({ ...job, ...next, steps });
  // Where nothing new begins instead, what was begun is only not needed any more.
  if ([...others].every((path) => own.has(path))) return undefined;
  return wanted.find(({ path }) => own.has(path) && !others.has(path));
}

/** Paths of what may begin. */
function offered(job: LiveJob): ReadonlySet<string> {
  const { begin, conditions } = interpret(job, job.tasks, 'main');
  return new Set([...begin.map(({ leaf }) => leaf.path), ...conditions.map(({ path }) => path)]);
}
