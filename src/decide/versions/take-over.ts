import type { Flow } from '../../model/flow.js';
import type { LiveJob } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import { merge, without } from '../../model/record.js';
import { isOpen, type Failure } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import { leavesIn } from '../../reading/entries.js';
import { isOfDecider } from '../../structures/paths.js';
import { lookUp, type Query } from '../queries.js';
import { difference, expandParams, withDefaults } from '../start/params.js';
import { snapshot } from '../start/snapshot.js';
import { brokenSchema, unfitForFlow } from '../start/suits.js';
import type { World } from '../world.js';
import { obstacleTo, type JobDefinition, type Obstacle } from './obstacle.js';

/** What must be known of definitions to take one over. */
export type DefinitionsKnown = Pick<World, 'flow' | 'task' | 'schema'>;

/** A flow as it is stored. */
export type StoredFlow = Flow & { readonly _rev?: string };

/**
 * What became of it: `taken`: the job goes by the flow from now on; `held`: something that it has done or does keeps
 * it; `wrong`: no job can go by that flow, or not with these parameters.
 */
export type TakenOver =
  | Query
  | { readonly kind: 'taken'; readonly job: LiveJob }
  | { readonly kind: 'held'; readonly obstacle: Obstacle }
  | { readonly kind: 'wrong'; readonly failure: Failure };

/**
 * Lets a job that has begun go by a flow as it is stored now. Its steps stay as they are; copies of definitions and
 * the parameters that come from them are replaced.
 *
 * MV5 What users wrote into the parameters stays. Where a step has another position now, its parameters go with it.
 */
export function takeOver(job: LiveJob, flow: StoredFlow, known: DefinitionsKnown): TakenOver {
  const owner = job.owner ?? defaultOwner;
  const found = snapshot(flow, owner, known);
  switch (found.kind) {
    case 'unknown':
      return lookUp({ tasks: found.names.map((name) => ({ name, owner })) });
    case 'wrong':
      return { kind: 'wrong', failure: found.failure };
    case 'taken':
      break;
  }
  const { tasks, _rev, ...settings } = flow;
  const definitions = { ...usedByDeciders(job), ...found.definitions };
  const next: JobDefinition = { tasks, flow_definition: settings, definitions };
  const obstacle = obstacleTo(job, next);
  if (obstacle !== undefined) return { kind: 'held', obstacle };
  const own = ownParams(job, next);
  const given = withDefaults(own, settings);
  const unfit = brokenSchema(definitions, known) ?? unfitForFlow(settings, given, known);
  if (unfit !== undefined) return { kind: 'wrong', failure: unfit.failure };
  return {
    kind: 'taken',
    job: {
      ...without({ ...job, ...next }, 'flow_version'),
      ...(_rev === undefined ? {} : { flow_rev: _rev }),
      ...(flow.version === undefined ? {} : { flow_version: flow.version }),
      params: merge(expandParams(given, leavesIn(tasks).list, settings, definitions), own),
    },
  };
}

/** The copies of tasks that a decider named for what runs or waits; what it begins next is looked up anew. */
function usedByDeciders({ steps, definitions }: LiveJob): LiveJob['definitions'] {
  const used = steps.flatMap((step) => {
    const copy = isOpen(step) && isOfDecider(step.path) ? definitions[step.task] : undefined;
    return copy === undefined ? [] : [[step.task, copy] as const];
  });
  return Object.fromEntries(used);
}

/** What users wrote into the job; all else came from the definitions. */
function ownParams(job: LiveJob, next: JobDefinition): Readonly<Record<string, unknown>> {
  const { flow_definition: flow, definitions, params = {} } = job;
  const leaves = leavesIn(job.tasks).list;
  const own = difference(params, expandParams(withDefaults({}, flow), leaves, flow, definitions));
  const moved = new Map<string, string>();
  for (const { label, path, entry } of leaves) {
    const there = leavesIn(next.tasks).at(path);
    if (there?.entry.task === entry.task && there.label !== label) moved.set(label, there.label);
  }
  if (moved.size === 0) return own;
  return Object.fromEntries(
    Object.entries(own).map(([key, value]) => {
      const label = isObject(value) ? moved.get(key) : undefined;
      return [label ?? key, value] as const;
    }),
  );
}
