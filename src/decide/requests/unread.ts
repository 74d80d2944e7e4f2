import type { Flow } from '../../model/flow.js';
import type { LiveJob, NewJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { unreadKeys } from '../../reading/unread-keys.js';

/** Maximum number of keys that are reported: the next job reports the others. */
const mostTold = 20;

/** Maximum number of objects and unknown keys read in one document, so that no job waits for it. */
const mostSeen = 300;

type Definition = Readonly<Record<string, unknown>> & { readonly type: string };

const known = new WeakMap<Definition, readonly Problem[]>();

/**
 * Returns a problem for each key of a job, its flow and its tasks that looks like a feature and
 * that nothing reads. Paths lead to the places in the job document.
 */
export function unreadIn(
  job: NewJob,
  flow: Flow,
  definitions: LiveJob['definitions'],
): readonly Problem[] {
  const isOwn = job.tasks !== undefined;
  const ofFlow = isOwn
    ? unreadKeys({ type: 'flow', tasks: flow.tasks }, { most: mostSeen })
    : unreadOf(flow).map((one) => (isInTasks(one) ? one : below('flow_definition', one)));
  const ofTasks = Object.entries(definitions).flatMap(([name, task]) =>
    unreadOf(task).map((one) => below(`definitions.${name}`, one)),
  );
  const ofJob = unreadKeys(job, { most: mostSeen, except: ['tasks', 'params', 'notify'] });
  return [...ofJob, ...ofFlow, ...ofTasks].slice(0, mostTold);
}

/** Many jobs run the same definitions. */
function unreadOf(definition: Definition): readonly Problem[] {
  const found = known.get(definition) ?? unreadKeys(definition, { most: mostSeen });
  known.set(definition, found);
  return found;
}

function isInTasks({ path }: Problem): boolean {
  return /^tasks\b/.test(path);
}

function below(root: string, { path, message }: Problem): Problem {
  return { path: `${root}.${path}`, message: `${root}.${message}` };
}
