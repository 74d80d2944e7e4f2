import { isObject } from '../model/object.js';
import { isFinalState, type StoredDocument } from '../model/document.js';
import { defaultOwner, keyOf } from '../model/task.js';
import type { Library } from './library.js';

/**
 * The flow of which a job document of any form needs a permit before it begins, as `<flow>::<owner>`.
 * A new job counts by its flow as it is stored now, one that has begun by its own copy of it.
 */
export function permitFlowOf(
  job: StoredDocument,
  library: Pick<Library, 'flow'>,
): string | undefined {
  if (job['slice'] !== undefined || isFinalState(job['state'])) return undefined;
  const flow = job['state'] === undefined ? flowOfNew(job, library) : flowOfLive(job);
  const { max_running: most, name, owner } = flow ?? {};
  if (most === undefined || typeof name !== 'string') return undefined;
  return keyOf(name, typeof owner === 'string' ? owner : undefined);
}

type FlowFacts = {
  readonly max_running?: unknown;
  readonly name?: unknown;
  readonly owner?: unknown;
};

function flowOfNew(
  { flow, owner = defaultOwner, tasks }: StoredDocument,
  library: Pick<Library, 'flow'>,
): FlowFacts | undefined {
  if (typeof flow !== 'string' || typeof owner !== 'string' || tasks !== undefined)
    return undefined;
  const found = library.flow(flow, owner);
  return found.kind === 'found' ? found.value : undefined;
}

function flowOfLive({ flow_definition: flow, locked }: StoredDocument): FlowFacts | undefined {
  const hasOne = isObject(locked) && locked['permit'] !== undefined;
  return isObject(flow) && !hasOne ? flow : undefined;
}
