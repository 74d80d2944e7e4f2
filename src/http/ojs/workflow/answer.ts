import type { StoredDocument } from '../../../model/document.js';
import { isObject } from '../../../model/object.js';
import { isStructure, type Structure } from '../../../model/tree.js';
import { nodeOutline, type NodeOutline } from '../../../reading/node-outline.js';
import { readJob } from '../../../reading/read-job.js';
import { readSteps, type StepReading } from '../../../reading/step-reading.js';
import { timeText } from '../times.js';
import { workOptionsOf } from '../../../model/work.js';
import type { WorkflowAnswer } from './schemas.js';

type Doc = Readonly<Record<string, unknown>>;
type State = 'waiting' | 'pending' | 'active' | 'running' | 'completed' | 'failed' | 'cancelled';

/** What was sent as a workflow, of a job; undefined: it is another one. */
export function workflowIn(job: StoredDocument): Doc | undefined {
  const { ojs } = job;
  return isObject(ojs) && isObject(ojs['workflow']) ? ojs['workflow'] : undefined;
}

/** A workflow as it stands at `now` (epoch ms). */
export function workflowOf(job: StoredDocument, now: number): WorkflowAnswer {
  const { type, name } = workflowIn(job) ?? {};
  const kind = typeof type === 'string' ? type : 'chain';
  const [whole] = nodeOutline(job)?.children ?? [];
  const read: Reading = { job, steps: readSteps(job) };
  const parts = (whole?.children ?? []).filter(({ key }) => !key.startsWith('on_'));
  const told = parts.map((part, index) => ({ index, ...partOf(part, read) }));
  const done = told.filter(({ state }) => state === 'completed').length;
  const isChain = kind === 'chain' || kind === 'graph';
  const created = createdOf(job);
  return {
    id: job._id,
    type: kind,
    ...(typeof name === 'string' ? { name } : {}),
    state: stateOf(job, now),
    ...(isChain
      ? { steps: told, steps_total: told.length, steps_completed: done }
      : { jobs: told, jobs_total: told.length, jobs_completed: done }),
    ...(whole === undefined || kind !== 'batch' ? {} : callbacksOf(whole, read)),
    ...created,
    metadata: { ...created, ...countsOf(whole, read), ...timesOf(job, read) },
    ...errorsOf(whole, read),
  };
}

type Reading = { readonly job: StoredDocument; readonly steps: readonly StepReading[] };

function stateOf(job: StoredDocument, now: number): WorkflowAnswer['state'] {
  switch (readJob(job, now).status) {
    case 'succeeded':
      return 'completed';
    case 'failed':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
    case 'queued':
    case 'scheduled':
    case 'running':
    case 'waiting':
    case 'paused':
      return 'running';
  }
}

/** A step, or a workflow in it with its own steps. */
function partOf(part: NodeOutline, read: Reading): PartOf {
  const state = wordOf(part, read);
  const { node } = part;
  if (isStructure(node)) return wholeOf(part, node, read);
  const last = read.steps.findLast(({ path }) => path === part.path);
  const { type, id } = workOptionsOf(node.params);
  const result = resultAt(read.job, last);
  const names = part.key === 'graph' ? { id: part.path.split('.').at(-1) } : {};
  return {
    ...names,
    type: type ?? node.name ?? node.task,
    state,
    // There is a job once it can be had, or has ended.
    job_id: state === 'waiting' ? null : (id ?? `${read.job._id}/${part.path}`),
    ...(result === undefined ? {} : { result }),
    ...timeText('started_at', last?.leased ?? last?.start),
    ...timeText('completed_at', last?.end),
  };
}

/** A workflow in a workflow. */
function wholeOf(part: NodeOutline, { structure, name }: Structure, read: Reading): PartOf {
  const inside = part.children.map((child, index) => ({ index, ...partOf(child, read) }));
  const key = structure === 'sequence' || structure === 'graph' ? 'steps' : 'jobs';
  const type = kinds[structure] ?? structure;
  const called = name === undefined ? {} : { name };
  return { type, ...called, state: wordOf(part, read), job_id: null, [key]: inside };
}

type PartOf = Doc & {
  readonly type: string;
  readonly state: State;
  readonly job_id: string | null;
};

const kinds: Readonly<Record<string, string>> = {
  sequence: 'chain',
  parallel: 'group',
  batch: 'batch',
  graph: 'graph',
};

/** How a part stands, in the words of the specification. */
function wordOf({ state, node, path }: NodeOutline, { steps }: Reading): State {
  const isLeaf = !isStructure(node);
  switch (state) {
    case 'done':
    case 'recovered':
    case 'skipped':
    case 'undone':
      return 'completed';
    case 'failed':
      return 'failed';
    case 'cancelled':
    case 'unreached':
      return 'cancelled';
    case 'pending':
      return 'waiting';
    case 'retrying':
      return isLeaf ? 'pending' : 'running';
    case 'active':
    case 'waiting': {
      if (!isLeaf) return 'running';
      const last = steps.findLast((one) => one.path === path);
      return last?.plugin === 'worker' && last.worker === undefined ? 'pending' : 'active';
    }
  }
}

function resultAt({ steps }: StoredDocument, last: StepReading | undefined): unknown {
  const all: readonly unknown[] = Array.isArray(steps) ? steps : [];
  const step = last === undefined ? undefined : all[last.place];
  return isObject(step) ? step['result'] : undefined;
}

function callbacksOf({ children }: NodeOutline, read: Reading): Doc {
  const calls = children.filter(({ key }) => key.startsWith('on_'));
  return { callbacks: Object.fromEntries(calls.map((one) => [one.key, partOf(one, read)])) };
}

/** All jobs in it, those of workflows in it as well. */
function leavesOf(outline: NodeOutline | undefined): readonly NodeOutline[] {
  if (outline === undefined) return [];
  return isStructure(outline.node) ? outline.children.flatMap(leavesOf) : [outline];
}

function countsOf(whole: NodeOutline | undefined, read: Reading) {
  const words = leavesOf(whole).map((leaf) => wordOf(leaf, read));
  const count = (state: State): number => words.filter((word) => word === state).length;
  return {
    job_count: words.length,
    completed_count: count('completed'),
    failed_count: count('failed'),
  };
}

function createdOf({ ojs }: StoredDocument): { readonly created_at?: string } {
  return timeText('created_at', isObject(ojs) ? ojs['created_at'] : undefined);
}

function timesOf({ end, state }: StoredDocument, { steps }: Reading) {
  const begun = steps.flatMap(({ leased, start, plugin }) =>
    plugin === 'worker' ? (leased ?? []) : (start ?? []),
  );
  return {
    ...(begun.length === 0 ? {} : timeText('started_at', Math.min(...begun))),
    ...timeText('completed_at', end),
    ...(state === '$$cancelled' ? timeText('cancelled_at', end) : {}),
  };
}

/** Which jobs failed for good, and why (workflows, section 9.6). */
function errorsOf(whole: NodeOutline | undefined, read: Reading): Doc {
  const failed = leavesOf(whole).filter((leaf) => leaf.state === 'failed');
  if (failed.length === 0) return {};
  const errors = failed.map((leaf) => {
    const { job_id: id } = partOf(leaf, read);
    const last = read.steps.findLast(({ path }) => path === leaf.path);
    const step = rawStep(read.job, last);
    const { code, message, name } = isObject(step['failure']) ? step['failure'] : {};
    return {
      job_id: id,
      code: typeof code === 'string' ? code : 'handler_error',
      type: name,
      message: typeof message === 'string' ? message : '',
      attempt: last?.attempt ?? 0,
    };
  });
  return { errors, failed_job_ids: errors.map(({ job_id: id }) => id) };
}

function rawStep({ steps }: StoredDocument, last: StepReading | undefined): Doc {
  const all: readonly unknown[] = Array.isArray(steps) ? steps : [];
  const step = last === undefined ? undefined : all[last.place];
  return isObject(step) ? step : {};
}
