import type { PluginContext } from '../plugin/api.js';
import { PluginError } from '../plugin/errors.js';
import { toJson } from '../plugin/json.js';
import { chainResultsOf } from '../reading/chain-results.js';
import { isObject } from '../model/object.js';
import { createLogger, type JobLogger } from './logger.js';

/** The job as the function of a task gets it: what it sets is kept for the tasks that follow. */
export type WorkflowJob = Record<string, unknown> & {
  readonly uuid: string;
  readonly params: Record<string, unknown>;
  readonly log: JobLogger;
};

/** What tasks cannot change: setting it has no effect, as in node-workflow. */
const frozen: ReadonlySet<string> = new Set([
  ...['chain', 'chain_results', 'onerror', 'onerror_results', 'oncancel', 'oncancel_results'],
  ...['exec_after', 'timeout', 'elapsed', 'uuid', 'workflow_uuid', 'workflow', 'name', 'execution'],
  ...['num_attempts', 'max_attempts', 'initial_delay', 'max_delay', 'prev_attempt', 'created_at'],
  ...['started', 'log', 'runner_id', 'locks', 'target', 'params', 'timeToDie'],
]);

/** Where the parameters are that tasks changed. */
const paramsKey = 'params';

/** What a workflow says of the attempts of its jobs, as the import keeps it in the flow. Times in ms. */
export type AttemptSettings = {
  readonly max_attempts?: number;
  readonly initial_delay?: number;
  readonly max_delay?: number;
  /** Seconds; absent: none. */
  readonly timeout?: number;
};

/** The settings of the workflow that a job runs. */
export function settingsOf(job: PluginContext['job']): AttemptSettings {
  const { flow_definition: flow } = job;
  const settings = isObject(flow) ? flow['node_workflow'] : undefined;
  return isObject(settings) ? settings : {};
}

/** Makes the job that the function of a task gets. */
export function workflowJobOf(context: PluginContext): WorkflowJob {
  const { job } = context;
  const data = structuredClone(isObject(job['data']) ? job['data'] : {});
  const results = chainResultsOf(job);
  const { max_attempts: most, timeout, ...delays } = settingsOf(job);
  const { [paramsKey]: changed, ...shared } = data;
  return {
    ...shared,
    uuid: String(job['_id']),
    name: job['flow'],
    workflow_uuid: job['flow'],
    ...pick(job, ['target', 'locks']),
    exec_after: isoOf(job['exec_after'] ?? job['start']),
    created_at: isoOf(job['start']),
    started: job['start'],
    execution: 'running',
    num_attempts: Number(job['restarts'] ?? 0),
    ...(most === undefined ? {} : { max_attempts: most }),
    ...(timeout === undefined ? {} : { timeout }),
    ...delays,
    chain_results: structuredClone(results.chain),
    onerror_results: structuredClone(results.onerror),
    oncancel_results: structuredClone(results.oncancel),
    params: { ...paramsOf(context), ...(isObject(changed) ? changed : {}) },
    log: createLogger(context.log),
  };
}

/** Those of the job, which all its tasks share, and those of the step. */
function paramsOf({ job, params }: PluginContext): Record<string, unknown> {
  return {
    ...structuredClone(isObject(job['params']) ? job['params'] : {}),
    ...structuredClone(params),
  };
}

/** What it was before the function of a task got it. */
export type JobBefore = {
  readonly keys: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
};

/** Keeps what a job is, to tell afterwards what has changed. */
export function jobBefore(job: WorkflowJob): JobBefore {
  return { keys: textsOf(kept(job)), params: textsOf(job.params) };
}

/**
 * What has changed in a job, as changes of `job.data`: a key that is gone is `null`.
 * @throws PluginError `JobUnfit`: what was set is no JSON
 */
export function changesOf(job: WorkflowJob, before: JobBefore): Readonly<Record<string, unknown>> {
  const changes = differences(kept(job), before.keys, 'job');
  const params = isObject(job.params) ? differences(job.params, before.params, 'job.params') : {};
  if (Object.keys(params).length === 0) return changes;
  return { ...changes, [paramsKey]: { ...job.params } };
}

function kept(job: WorkflowJob): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(job).filter(([key]) => !frozen.has(key)));
}

function textsOf(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value) ?? '']));
}

function differences(
  values: Readonly<Record<string, unknown>>,
  before: ReadonlyMap<string, string>,
  what: string,
): Record<string, unknown> {
  const changed = Object.entries(values).flatMap(([key, value]) => {
    if (typeof value === 'function' || value === undefined) return [];
    const text = textOf(value, `${what}.${key}`);
    return text === before.get(key) ? [] : [[key, JSON.parse(text) as unknown] as const];
  });
  const gone = [...before.keys()].filter((key) => values[key] === undefined);
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(changed) };
}

function textOf(value: unknown, what: string): string {
  try {
    const json = toJson(JSON.parse(JSON.stringify(value)) as unknown);
    if (json.ok) return JSON.stringify(json.value);
  } catch {
    // Told below.
  }
  throw new PluginError(`${what} cannot be kept for later tasks: it is no JSON.`, {
    name: 'JobUnfit',
    retryable: false,
  });
}

function pick(
  job: PluginContext['job'],
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(keys.flatMap((key) => (key in job ? [[key, job[key]]] : [])));
}

function isoOf(at: unknown): unknown {
  return typeof at === 'number' ? new Date(at).toISOString() : at;
}
