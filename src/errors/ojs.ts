import { row } from './row.js';

/** Rows about the façade of the Open Job Spec. */
export const ojsProblems = {
  ojs_unsupported: row(
    (d: { what: string; because: string }) => `${d.what} is not supported: ${d.because}`,
    'GET /ojs/manifest tells what is.',
    2,
    422,
  ),
  ojs_type_unknown: row(
    (d: { type: string; owner: string }) =>
      `There is no flow and no task "${d.type}" of owner "${d.owner}".`,
    'Store one of that name; with a task "ojs" whose plugin is "worker", workers get every other type.',
    4,
    400,
  ),
  ojs_duplicate: row(
    (d: { id: string }) => `A job with the id ${d.id} is there already.`,
    'GET it to see how it stands, or leave the id out to have one made.',
    2,
    409,
  ),
  ojs_cron_taken: row(
    (d: { name: string }) => `A schedule of the name "${d.name}" is there already.`,
    'Choose another name, or DELETE that one first.',
    2,
    409,
  ),
  ojs_state: row(
    (d: { id: string; state: string; goal: string }) =>
      `Job ${d.id} is in state "${d.state}", so it cannot be ${d.goal}.`,
    'GET the job to see how it stands now.',
    2,
    409,
  ),
  ojs_not_held: row(
    (d: { id: string; state?: string }) => `No worker has job ${d.id} now, or another one has it.`,
    'The lease may be over, or the job was answered before; fetch the next one.',
    2,
    409,
  ),
} as const;
