import { defaultPriority, defaultQueue } from '../model/job.js';
import { isObject } from '../model/object.js';
import { offerName } from '../model/work.js';

/**
 * The signal for which a step waits that is to be done by a worker outside, in the queue and with the
 * priority of its job: `return wait(offerWork(job, { at: Date.now(), id: randomUUID() }))`. Workers
 * fetch it by `POST /ojs/v1/workers/fetch`. `id` must be another one for every attempt.
 */
export function offerWork(
  { queue, flow_definition: flow, parent, priority }: Readonly<Record<string, unknown>>,
  { at, id }: { readonly at: number; readonly id: string },
): string {
  const queues = [queue, isObject(flow) && flow['queue'], isObject(parent) && parent['queue']];
  return offerName({
    queue: queues.find((one) => typeof one === 'string') ?? defaultQueue,
    priority: typeof priority === 'number' ? priority : defaultPriority,
    at,
    id,
  });
}
