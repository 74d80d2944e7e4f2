import { failure } from '../../model/failures.js';
import type { Flow } from '../../model/flow.js';
import { asVersion } from '../../model/flow-versions.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isOfFlow, type Failure } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import { isStructure, type Node } from '../../model/tree.js';
import { leavesOf } from '../../structures/tree.js';
import { finish } from '../finish/finish.js';
import { completionOn, jobSteps, lastAttempt } from '../../reading/attempts.js';
import { flowFailure } from '../start/flow-failure.js';
import { lookUp } from '../queries.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { leavesIn, nodeAt } from '../../reading/entries.js';
import { casePath } from '../../structures/choice.js';
import { markAt } from '../../structures/marks.js';
import { decisionMaker, isOfDecider, slicedMap } from '../../structures/paths.js';
import { difference, expandParams, withDefaults } from '../start/params.js';
import { merge, without } from '../../model/record.js';
import { snapshot } from '../start/snapshot.js';
import { brokenSchema, unfitForFlow } from '../start/suits.js';

/**
 * Retries a job with the latest definitions: the rest of it follows the current flow and tasks.
 * What is done stays done, so the flow must still have it at its place.
 */
export function refreshMove(job: LiveJob, now: number, world: World): Move {
  const { name } = job.flow_definition;
  const owner = job.owner ?? defaultOwner;
  // A slice gets its definitions from its parent.
  if (name === '' || job.slice !== undefined)
    return { kind: 'change', job: without(job, 'refresh') };
  // One that asked for a version gets that one as it is stored now; others get the current one.
  const ask = job.flow_pinned === true ? { version: asVersion(job.flow_version) } : {};
  const flow = world.flow(name, owner, ask);
  switch (flow.kind) {
    case 'unknown':
      return lookUp({ flows: [{ name, owner }] });
    case 'found':
      return refreshWith(job, flow.value, now, world);
    case 'absent':
    case 'ambiguous':
    case 'invalid':
      return refuse(job, flowFailure(name, owner, flow, ask), now);
  }
}

function refreshWith(
  job: LiveJob,
  flow: Flow & { readonly _rev?: string },
  now: number,
  world: World,
): Move {
  const owner = job.owner ?? defaultOwner;
  const taken = snapshot(flow, owner, world);
  switch (taken.kind) {
    case 'unknown':
      return lookUp({ tasks: taken.names.map((name) => ({ name, owner })) });
    case 'wrong':
      return refuse(job, taken.failure, now);
    case 'taken':
      break;
  }
  const moved = movedStep(job, flow);
  if (moved !== undefined) return refuse(job, moved, now);
  const { tasks, _rev, ...settings } = flow;
  const { definitions } = taken;
  const leaves = leavesOf(tasks);
  const fresh = { ...job, tasks, definitions, flow_definition: settings };
  const own = ownParams(job);
  const unfit =
    brokenSchema(definitions, world) ?? unfitForFlow(settings, withDefaults(own, settings), world);
  if (unfit !== undefined) return refuse(job, unfit.failure, now, unfit.exit);
  return {
    kind: 'change',
    job: {
      ...without(fresh, 'refresh', 'flow_version'),
      refreshed: job.run,
      ...(_rev === undefined ? {} : { flow_rev: _rev }),
      ...(flow.version === undefined ? {} : { flow_version: flow.version }),
      params: merge(expandParams(withDefaults({}, settings), leaves, settings, definitions), own),
    },
  };
}

/**
 * A step that is done and that the flow as it is now has not, or has another task for; or something
 * that was found out for a structure where there is another one now; or a case that was taken of a
 * choice which does not have it any more.
 */
function movedStep(job: LiveJob, flow: Flow): Failure | undefined {
  for (const step of job.steps) {
    const { path, phase, task, structure } = step;
    if (!isOfFlow(phase) || isOfDecider(path) || lastAttempt(job, path) !== step) continue;
    const isDone =
      structure === undefined ? completionOn(job, path) !== undefined : step.state === '$$complete';
    if (!isDone) continue;
    const now = kindAt(flow.tasks, slicedMap(decisionMaker(path)));
    if (now !== task) return failure('RefreshRefused', { step: path, task, now });
    const taken =
      structure === 'choice' ? casePath(path, markAt(jobSteps(job), path)?.chosen) : undefined;
    const was = taken === undefined ? gone : kindAt(job.tasks, taken);
    if (taken !== undefined && was !== gone && kindAt(flow.tasks, taken) === gone) {
      return failure('RefreshRefused', { step: taken, task: was, now: gone });
    }
  }
  return undefined;
}

const gone = 'gone';

/** The task or the kind of structure at a path of a tree. */
function kindAt(tree: Node, path: string): string {
  const node = nodeAt(tree, path);
  if (node === undefined) return gone;
  return isStructure(node) ? node.structure : node.task;
}

/** What users wrote into the job; all else came from the definitions. */
function ownParams(job: LiveJob): Readonly<Record<string, unknown>> {
  const { flow_definition: flow, definitions, params = {} } = job;
  const leaves = leavesIn(job.tasks).list;
  return difference(params, expandParams(withDefaults({}, flow), leaves, flow, definitions));
}

function refuse(job: LiveJob, why: Failure, now: number, exit: number = exits.definition): Move {
  const kept = without(job, 'refresh');
  return { kind: 'change', job: finish(kept, { exit, failure: why }, now) };
}
