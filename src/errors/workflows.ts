import { row } from './row.js';

/** Rows about the routes of node-workflow. */
export const workflowProblems = {
  workflow_missing: row(
    (d: { id: string }) => `There is no workflow ${JSON.stringify(d.id)}.`,
    'GET /workflows lists those that there are.',
    4,
    404,
  ),
  workflow_taken: row(
    (d: { name: string }) => `A flow of the name ${JSON.stringify(d.name)} is there already.`,
    'Choose another name, or PUT the workflow of that name.',
    2,
    409,
  ),
  workflow_invalid: row(
    (d: { reason: string }) => `The workflow is not valid: ${d.reason}`,
    'Correct it and send it again.',
    3,
    409,
  ),
  workflow_job_invalid: row(
    (d: { reason: string }) => `The job is not valid: ${d.reason}`,
    'Correct it and send it again.',
    3,
    409,
  ),
  workflow_code: row(
    (d: { owner: string }) => `The project runs no code of workflows of owner "${d.owner}".`,
    'Name the owner in "code": {"script": […]} of tws.json, or import the workflows: tws import node-workflow.',
    77,
    403,
  ),
  workflow_target: row(
    (d: { target: string; job: string; isLocked: boolean }) =>
      d.isLocked
        ? `The target ${JSON.stringify(d.target)} is locked by job ${d.job}.`
        : `Job ${d.job} has the target ${JSON.stringify(d.target)} with the same parameters and has not ended.`,
    'Submit the job again when that one has ended.',
    5,
    409,
  ),
  workflow_job_state: row(
    (d: { id: string; execution: string; goal: string }) =>
      `Job ${d.id} is ${d.execution}, so it cannot be ${d.goal}.`,
    'GET the job to see how it stands now.',
    2,
    409,
  ),
} as const;
