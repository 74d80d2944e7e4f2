import type { StoredDocument } from '../../../model/document.js';
import { isObject } from '../../../model/object.js';
import { leasedSteps } from '../../../client-rules.js';
import { isStructure } from '../../../model/tree.js';
import { workOptionsOf } from '../../../model/work.js';
import { nodeOutline, type NodeOutline } from '../../../reading/node-outline.js';
import { readSteps } from '../../../reading/step-reading.js';
import {
  attemptOf,
  envelopeOf,
  envelopeOfWork,
  errorOf,
  keptStep,
  queueOfJob,
} from '../envelope.js';
import type { Envelope } from '../schemas.js';
import { isTerminal, type OjsState } from '../states.js';
import { timeText } from '../times.js';

/** A step of a job as a job of the Open Job Spec, by its id; undefined: there is no such step. */
export function envelopeOfStep(job: StoredDocument, id: string, now: number): Envelope | undefined {
  const isMeant = (params: unknown, path: string): boolean =>
    workOptionsOf(params).id === id || `${job._id}/${path}` === id;
  const held = leasedSteps(job).find(({ params, path }) => isMeant(params, path));
  if (held !== undefined) return envelopeOfWork({ job, step: held }, now);
  const leaf = leavesOf(nodeOutline(job)).find(
    ({ node, path }) => !isStructure(node) && isMeant(node.params, path),
  );
  if (leaf === undefined || isStructure(leaf.node)) return undefined;
  const { node, path } = leaf;
  const { type = node.name ?? node.task, queue = queueOfJob(job) } = workOptionsOf(node.params);
  const steps = readSteps(job);
  const last = steps.findLast((step) => step.path === path && step.structure === undefined);
  const { args, meta } = keptStep(job, id) ?? {};
  return {
    ...ofWhole(job, now),
    ...{ id, type, queue, workflow_id: job._id },
    args: Array.isArray(args) ? (args as unknown[]) : [],
    meta: isObject(meta) ? meta : {},
    attempt: last === undefined ? 0 : attemptOf(steps, last),
    ...cameOf(job, last, stateOf(leaf, last, now)),
  };
}

/** What a step has of its job: nothing of how that stands. */
function ofWhole(job: StoredDocument, now: number) {
  const { specversion, priority, created_at: created } = envelopeOf(job, now);
  return { specversion, priority, ...(created === undefined ? {} : { created_at: created }) };
}

type Last = ReturnType<typeof readSteps>[number] | undefined;

/** How a step stands, with its times and what came of it. */
function cameOf(job: StoredDocument, last: Last, state: OjsState) {
  const raw: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  const own = last === undefined ? undefined : raw[last.place];
  const { result, failure } = isObject(own) ? own : {};
  const begun = last?.plugin === 'worker' ? last.leased : last?.start;
  return {
    state,
    ...timeText('started_at', begun),
    ...endTime(state, last?.end ?? job['end'], last?.due),
    ...(result === undefined ? {} : { result }),
    ...(isObject(failure) && isTerminal(state) ? { error: errorOf(failure) } : {}),
  };
}

function endTime(state: OjsState, end: unknown, due: unknown) {
  switch (state) {
    case 'completed':
      return timeText('completed_at', end);
    case 'discarded':
      return timeText('discarded_at', end);
    case 'cancelled':
      return timeText('cancelled_at', end);
    case 'retryable':
      return timeText('next_attempt_at', due);
    case 'scheduled':
    case 'available':
    case 'pending':
    case 'active':
      return {};
  }
}

function leavesOf(outline: NodeOutline | undefined): readonly NodeOutline[] {
  if (outline === undefined) return [];
  return isStructure(outline.node) ? outline.children.flatMap(leavesOf) : [outline];
}

function stateOf({ state }: NodeOutline, last: Last, now: number): OjsState {
  switch (state) {
    case 'pending':
      return 'pending';
    case 'active':
    case 'waiting':
      return last?.plugin === 'worker' && last.worker === undefined ? 'available' : 'active';
    case 'retrying':
      return Number(last?.due) > now ? 'retryable' : 'available';
    case 'done':
    case 'recovered':
    case 'skipped':
    case 'undone':
      return 'completed';
    case 'failed':
      return 'discarded';
    case 'cancelled':
    case 'unreached':
      return 'cancelled';
  }
}
