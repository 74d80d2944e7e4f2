import { closest } from '../../model/closest.js';
import { branchesOf } from '../../model/flow.js';
import type { LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { isOfWork } from '../../model/work.js';
import { leavesIn } from '../../reading/leaves.js';

/** A job tells of at most this many names that nothing reads. */
const mostTold = 20;
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
  const entries = trees.flatMap((tree) => leavesIn(tree).list.map(({ entry }) => entry));
  const read = new Set(entries.flatMap(({ wait }) => wait?.signal ?? []));
  if (read.has(name)) return undefined;
  const isOpen =
    entries.some(({ decider }) => decider !== undefined) ||
    [...read].some((text) => /\{\{|\[\[/.test(text)) ||
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
