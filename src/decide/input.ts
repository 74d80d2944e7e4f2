import type { LiveJob } from '../model/job.js';
import { resultsBefore, type Results } from './history.js';
import { handlerParams, stepParams } from './params.js';
import type { Beginning } from './structure/progress.js';

/** What a step works with before anything is filled in: its parameters and the results it sees. */
export type Input = Results & { readonly params: Readonly<Record<string, unknown>> };

/** A step of the flow sees what came before it; handlers and the cancel branch see everything. */
export function inputOf(job: LiveJob, { leaf, phase }: Beginning): Input {
  return phase === 'main'
    ? { ...resultsBefore(job, leaf.index), params: stepParams(job, leaf) }
    : { ...resultsBefore(job), params: handlerParams(job, leaf.entry.task, leaf.entry.params) };
}
