import { mayHoldTemplate } from '../../model/template.js';
import { closest } from '../../model/closest.js';
import { branchesOf, type Flow } from '../../model/flow.js';
import { newJobFields, type LiveJob, type NewJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { isOfWork } from '../../model/work.js';
import { leavesIn } from '../../reading/entries.js';
import { unreadKeys } from '../../reading/unread-keys.js';
import { signalsRead } from '../../reading/later-waits.js';

/** Maximum number of keys, and of names of signals, that are reported: the next job reports the others. */
const mostTold = 20;

/** Maximum number of objects and unknown keys read in one document, so that no job waits for it. */
const mostSeen = 300;

/** Keys of a job in which texts, numbers and flags are what they should be. */
const plainKeys: ReadonlySet<string> = new Set(['_id', '_rev', ...Object.keys(newJobFields)]);

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
  const isPlain = Object.entries(job).every(
    ([key, value]) => typeof value !== 'object' && plainKeys.has(key),
  );
  const except = ['tasks', 'params', 'notify', 'schedule', 'started_by'];
  const ofJob = isPlain ? [] : unreadKeys(job, { most: mostSeen, except });
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

/** A sentence lists at most this many names that are read. */
const mostNamed = 5;

/**
 * Adds a problem for each of these names of signals that nothing in the job reads, once per name.
 */
export function withUnreadSignals(job: LiveJob, names: readonly string[]): LiveJob {
  return [...new Set(names)].reduce((before, name) => {
    const { problems = [] } = before;
    if (problems.filter(({ path }) => path === 'signals').length >= mostTold) return before;
    const found = unreadSignal(before, name);
    const isTold = problems.some(({ message }) => message === found?.message);
    return found === undefined || isTold ? before : { ...before, problems: [...problems, found] };
  }, job);
}

/**
 * Returns the problem of a signal whose name no wait of the job has; undefined: something reads it,
 * or may. Deciders read all signals, and templates can build any name or read `signals` themselves.
 */
export function unreadSignal(job: LiveJob, name: string): Problem | undefined {
  if (isOfWork(name) || job.steps.some(({ signal }) => signal === name)) return undefined;
  const { tasks, flow_definition: flow, definitions, params } = job;
  const trees = [tasks, ...branchesOf(flow).map(({ tree }) => tree)];
  const leaves = trees.flatMap((tree) => leavesIn(tree).list);
  const entries = leaves.map(({ entry }) => entry);
  const read = new Set(leaves.flatMap(signalsRead));
  // In maps and loops numbers follow the names of waits for people.
  if (read.has(name) || read.has(name.replace(/(?:-\d+)+$/, ''))) return undefined;
  const isOpen =
    entries.some(({ decider }) => decider !== undefined) ||
    [...read].some(mayHoldTemplate) ||
    JSON.stringify([tasks, flow, definitions, params]).includes('signals');
  if (isOpen) return undefined;
  const what = `signals: nothing in this job waits for the signal ${JSON.stringify(name)}`;
  return { path: 'signals', message: `${what}; ${insteadOf(name, [...read])}` };
}

function insteadOf(name: string, read: readonly string[]): string {
  if (read.length === 0) return 'it has no step that waits for a signal.';
  const meant = closest(name, read);
  if (meant !== undefined) return `did you mean ${JSON.stringify(meant)}?`;
  const shown = read.slice(0, mostNamed).map((one) => JSON.stringify(one));
  const more = read.length > mostNamed ? ` and ${read.length - mostNamed} more` : '';
  return `it waits for ${shown.join(', ')}${more}.`;
}
