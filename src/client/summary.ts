import { asVersion } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import type { JobSummary } from '../model/summary.js';
import { neverDue } from '../model/scalars.js';
import { targetOf } from '../model/target.js';
import { ownerOf } from '../model/task.js';
import { originOf } from '../reading/origin.js';
import { readJob } from '../reading/read-job.js';
import { numbers, texts } from '../reading/step-reading.js';

/** What lists show of a job document, also of a malformed one. `now`: epoch ms. */
export function summaryOf(job: StoredDocument, now: number): JobSummary {
  const { _id: id, _rev: rev, failure, exec_after: after, tags, keys, parent, steps } = job;
  const origin = originOf(job);
  const target = targetOf(job['target']);
  const version = asVersion(job['flow_version']);
  const { status, steps: read } = readJob(job, now);
  const current = read.filter(({ open }) => open).map(({ name }) => name);
  return {
    id,
    rev,
    ...texts(job, ['flow', 'flow_rev', 'state', 'custom_status', 'external_id', 'queue']),
    ...(version === undefined ? {} : { flow_version: version }),
    ...(target === undefined ? {} : { target: target.text }),
    owner: ownerOf(job),
    status,
    ...numbers(job, ['start', 'end', 'exit', 'priority']),
    ...dueOnce(numbers(job, ['next_due'])),
    ...(isObject(failure) ? { failure: failureOf(failure) } : {}),
    ...(typeof after === 'number' || typeof after === 'string' ? { exec_after: after } : {}),
    ...(Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {}),
    ...(isObject(keys) ? { keys } : {}),
    ...(isObject(parent) && typeof parent['job'] === 'string' ? { parent: parent['job'] } : {}),
    ...(origin === undefined ? {} : { origin }),
    ...(current.length > 0 ? { current } : {}),
    attempts: Array.isArray(steps) ? steps.length : 0,
  };
}

/** When it is due, if ever: what only a signal or an event wakes is not. */
const dueOnce = (due: { readonly next_due?: number }): { readonly next_due?: number } =>
  due.next_due === neverDue ? {} : due;

function failureOf({ name, message, step }: Record<string, unknown>): {
  readonly name: string;
  readonly message: string;
  readonly step?: string;
} {
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : '',
    ...(typeof step === 'string' ? { step } : {}),
  };
}
