/*
 * A workflow is one job, and each of its steps has an id of its own that leads to it: the ids of steps
 * are that of the workflow with the number of the step in the last four digits, which are 0000 in that of
 * the workflow. So they are UUIDs of version 7, and finding the workflow of a step takes no index.
 */

const form = /^([\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{8})([\da-f]{4})$/;

/** More steps have no ids. */
export const mostStepIds = 0xffff;

/** The id of a workflow, from any UUID of version 7. */
export function workflowId(uuid: string): string {
  return uuid.replace(form, '$10000');
}

/** The id of a step, by its number from 1. */
export function stepId(workflow: string, number: number): string {
  return workflow.replace(form, `$1${number.toString(16).padStart(4, '0')}`);
}

/** The id of the workflow to which a step of this id would belong; undefined: it can be none. */
export function workflowOfStep(id: string): string | undefined {
  const number = form.exec(id)?.[2];
  return number === undefined || number === '0000' ? undefined : workflowId(id);
}
