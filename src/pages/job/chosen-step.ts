import type { StoredJob } from '../answers.js';
import { isAt, type StoredAttempt } from './attempts.js';

/** A job in which a step is looked for. */
export type Searched = {
  readonly job: Pick<StoredJob, 'status' | 'failure'>;
  readonly attempts: readonly StoredAttempt[];
  /** Path of the step that failed the job, as the reading has it. */
  readonly failed: string | undefined;
};

/** Returns the path of the step that is shown first: the one that failed, else what runs, else the last. */
export function firstShown({ job, attempts, failed }: Searched): string | undefined {
  const told = job.status === 'failed' ? toldBy({ job, attempts, failed }) : undefined;
  return told ?? (attempts.findLast(({ open }) => open) ?? attempts.at(-1))?.path;
}

/** Returns the path of the step that a name means, or a path in the job or in the definition. */
export function stepMeant(step: string, searched: Searched): string {
  const { job, attempts } = searched;
  if (attempts.some(({ path }) => path === step)) return step;
  if (step === job.failure?.step) return toldBy(searched) ?? step;
  const own = attempts.filter(({ path, name }) => name === step || isAt(path, step));
  const found = own.find(({ failed }) => failed) ?? own.findLast(({ open }) => open) ?? own.at(-1);
  return found?.path ?? step;
}

/** Where no step failed the flow, as when its time was over, a failed one of the name that the failure has. */
function toldBy({ job: { failure }, attempts, failed: path }: Searched): string | undefined {
  if (attempts.some((one) => one.path === path)) return path;
  const failed = attempts.filter((one) => one.failed);
  return (failed.findLast(({ name }) => name === failure?.step) ?? failed.at(-1))?.path;
}
