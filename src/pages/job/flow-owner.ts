import type { StoredJob } from '../answers.js';

/** Of whom the flow of a job is: its snapshot tells, before there is one the job's owner is guessed. */
export function flowOwner({ document, owner }: StoredJob): string {
  const { flow_definition: snapshot } = document;
  const { owner: own } = (snapshot ?? {}) as { readonly owner?: unknown };
  return typeof own === 'string' ? own : owner;
}
