import { failure } from '../../model/failures.js';
import { asVersion } from '../../model/flow-versions.js';
import type { LiveJob } from '../../model/job.js';
import { without } from '../../model/record.js';
import { exits, type Failure } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import { finish } from '../finish/finish.js';
import type { Move } from '../intent.js';
import { lookUp } from '../queries.js';
import { flowFailure } from '../start/flow-failure.js';
import { movement } from '../versions/movement.js';
import { takeOver, type StoredFlow } from '../versions/take-over.js';
import type { World } from '../world.js';

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

function refreshWith(job: LiveJob, flow: StoredFlow, now: number, world: World): Move {
  const taken = takeOver(job, flow, world);
  switch (taken.kind) {
    case 'look_up':
      return taken;
    case 'wrong':
      return refuse(job, taken.failure, now);
    case 'held': {
      const { path: step, was: task, now: there } = taken.obstacle;
      return refuse(job, failure('RefreshRefused', { step, task, now: there }), now);
    }
    case 'taken': {
      const next = { ...without(taken.job, 'refresh'), refreshed: job.run };
      return { kind: 'change', job: withMovement(next, job) };
    }
  }
}

/** Puts on record, with the retry that asked for it, by which definition the job goes now. */
function withMovement(next: LiveJob, before: LiveJob): LiveJob {
  const { requests = [] } = next;
  const at = requests.findLastIndex(({ action, latest }) => action === 'retry' && latest === true);
  if (at < 0) return next;
  const moved = movement(before, next);
  return {
    ...next,
    requests: requests.map((record, i) => (i === at ? { ...record, moved } : record)),
  };
}

function refuse(job: LiveJob, why: Failure, now: number): Move {
  const kept = without(job, 'refresh');
  return { kind: 'change', job: finish(kept, { exit: exits.definition, failure: why }, now) };
}
