import { failure } from '../../model/failures.js';
import { branchesOf, handlerOf, type Flow } from '../../model/flow.js';
import type { LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import type { Failure } from '../../model/step.js';
import type { Task } from '../../model/task.js';
import { leavesIn } from '../../reading/entries.js';
import { namesTask, type Leaf } from '../../model/tree.js';
import type { Found, World } from '../world.js';

type Definitions = LiveJob['definitions'];

/** Every task document that a flow may use, or why it cannot be collected. */
export type Snapshot =
  | { readonly kind: 'taken'; readonly definitions: Definitions }
  | { readonly kind: 'unknown'; readonly names: readonly string[] }
  | { readonly kind: 'wrong'; readonly failure: Failure; readonly problems?: readonly Problem[] };

/** A task name and the place that names it. */
type Mention = { readonly name: string; readonly at: string };

/**
 * Collects the tasks of a flow with their error handlers, and refuses handlers that form a circle.
 */
export function snapshot(flow: Flow, owner: string, world: Pick<World, 'task'>): Snapshot {
  const found = new Map<string, Task>();
  const unknown: string[] = [];
  const { list } = leavesIn(flow.tasks);
  const hasEnds = flow.error !== undefined || flow.cancel !== undefined;
  const entries = hasEnds ? [...list, ...entriesOfEnds(flow)] : list;
  const open: Mention[] = [...mentionsOf(flow, entries)];
  for (let mention = open.shift(); mention !== undefined; mention = open.shift()) {
    const { name } = mention;
    if (found.has(name)) continue;
    const answer = world.task(name, owner);
    if (answer.kind === 'unknown') {
      unknown.push(name);
    } else if (answer.kind === 'found') {
      found.set(name, answer.value);
      for (const key of ['error', 'undo'] as const) {
        const other = answer.value[key];
        if (other !== undefined) open.push({ name: other, at: `"${key}" of task ${name}` });
      }
    } else {
      return wrong(mention, owner, answer);
    }
  }
  if (unknown.length > 0) return { kind: 'unknown', names: [...new Set(unknown)] };
  const hasHandlers =
    entries.some(({ entry }) => entry.error !== undefined) ||
    [...found.values()].some(({ error }) => error !== undefined);
  const circle = hasHandlers ? circleIn(flow, entries, found) : undefined;
  if (circle !== undefined) {
    return { kind: 'wrong', failure: failure('HandlerCycle', { names: circle.join(' -> ') }) };
  }
  return { kind: 'taken', definitions: Object.fromEntries(found) };
}

function mentionsOf(flow: Flow, entries: readonly Leaf[]): readonly Mention[] {
  const steps = entries.flatMap(({ entry, path }): Mention[] => [
    ...(namesTask(entry) ? [{ name: entry.task, at: `step ${path} of the flow` }] : []),
    ...(['error', 'undo'] as const).flatMap((key) => {
      const other = entry[key];
      return other === undefined ? [] : [{ name: other, at: `"${key}" of step ${path}` }];
    }),
  ]);
  const handler = flow.error === undefined ? undefined : handlerOf(flow);
  return handler === undefined
    ? steps
    : [...steps, { name: handler.name, at: '"error" of the flow' }];
}

/** The entries of what follows a failure or a cancel of the flow. */
function entriesOfEnds(flow: Flow): readonly Leaf[] {
  return branchesOf(flow).flatMap(({ tree, root }) => leavesIn(tree, root).list);
}

function wrong(
  { name, at }: Mention,
  owner: string,
  found: Exclude<Found<Task>, { kind: 'found' | 'unknown' }>,
): Snapshot {
  switch (found.kind) {
    case 'absent':
      return { kind: 'wrong', failure: failure('TaskMissing', { task: name, owner, at }) };
    case 'ambiguous': {
      const ids = found.ids.join(', ');
      return { kind: 'wrong', failure: failure('TaskAmbiguous', { task: name, owner, ids }) };
    }
    case 'invalid':
      return {
        kind: 'wrong',
        problems: found.problems,
        failure: failure('InvalidTask', {
          task: name,
          id: found.id,
          problem: String(found.problems[0]?.message),
          more: found.problems.length - 1,
        }),
      };
  }
}

/** Follows `error` from every step; a name that comes twice is a circle. */
function circleIn(
  flow: Flow,
  entries: readonly Leaf[],
  tasks: ReadonlyMap<string, Task>,
): readonly string[] | undefined {
  const starts: (readonly [string, string | undefined])[] = entries.map(({ entry }) => [
    entry.task,
    entry.error ?? (namesTask(entry) ? tasks.get(entry.task)?.error : undefined),
  ]);
  const others = [handlerOf(flow)?.name, ...entries.map(({ entry }) => entry.undo)];
  for (const name of [...others, ...[...tasks.values()].map(({ undo }) => undo)]) {
    if (name !== undefined) starts.push([name, tasks.get(name)?.error]);
  }
  for (const [task, first] of starts) {
    const seen = [task];
    for (let name = first; name !== undefined; name = tasks.get(name)?.error) {
      if (seen.includes(name)) return [...seen, name];
      seen.push(name);
    }
  }
  return undefined;
}
