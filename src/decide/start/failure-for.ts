import { failure } from '../../model/failures.js';
import { isCancelRequested, type LiveJob } from '../../model/job.js';
import { exits, isFailed, type FailedStep, type FailureSeen, type Step } from '../../model/step.js';
import { childPath, isStructure, type Node } from '../../model/tree.js';
import type { Batch } from '../../structures/batch.js';
import { cancelled } from '../finish/finish.js';
import { caughtAround, failureSeen, seenAs } from '../../reading/caught.js';
import { flowTimeoutMs } from '../../reading/clock.js';
import { lastAttempt } from '../../reading/attempts.js';
import { nodeOf } from '../../reading/entries.js';
import { batchCalling, catchAround, isOfEnd, isUndoing } from '../../structures/paths.js';
import { interpret, progressAt } from '../../reading/progress.js';
import { firstOf } from '../../structures/siblings.js';

/**
 * Returns the failure that handlers, undo tasks, callbacks of a batch, branches and the cancel branch see:
 * that of the handled step, of the first failed node of the batch, of the flow, or the cancel; the
 * branch of a catch sees what was caught.
 * Undefined for all other steps, and for callbacks of a batch without failures.
 */
export function failureFor(
  job: LiveJob,
  { path }: Pick<Step, 'path'>,
): { readonly failure?: FailureSeen } {
  if (!/error|cancel|undo|on_|catch/.test(path)) return {};
  const handled = /^(.+)\.error$/.exec(path)?.[1];
  const step = handled === undefined ? undefined : lastAttempt(job, handled);
  if (step !== undefined && isFailed(step)) return { failure: failureSeen(step) };
  const failed = innermost(path) === 'catch' ? caughtAround(job, path) : batchFailure(job, path);
  if (failed !== undefined) return { failure: failureSeen(failed) };
  return isOfEnd(path) ? { failure: ofFlow(job) } : {};
}

/** Whether a path is in the branch of a catch or in a callback; where both, which is inside the other. */
function innermost(path: string): 'catch' | 'batch' {
  if (isUndoing(path)) return 'batch';
  const [caught, calling] = [catchAround(path) ?? '', batchCalling(path) ?? ''];
  return catchAround(path) !== undefined && caught.length >= calling.length ? 'catch' : 'batch';
}

/** The first failure in the innermost batch of which the path is in a callback. */
function batchFailure(job: LiveJob, path: string): FailedStep | undefined {
  const at = batchCalling(path);
  const node = at === undefined ? undefined : nodeOf(job, at);
  if (at === undefined || node === undefined || !isBatch(node)) return undefined;
  const failures = node.batch.flatMap((one, i) => {
    const progress = progressAt(job, one, childPath(at, 'batch', i));
    return progress.kind === 'failed' ? [progress.step] : [];
  });
  return failures.length === 0 ? undefined : firstOf(failures);
}

function isBatch(node: Node): node is Batch {
  return isStructure(node) && node.structure === 'batch';
}

/** Why the flow has come to its end: a cancel, the step that failed, or its timeout. */
function ofFlow(job: LiveJob): FailureSeen {
  if (isCancelRequested(job)) return seenAs(cancelled(job), exits.cancelled);
  const progress = interpret(job, job.tasks, 'main');
  if (progress.kind === 'failed') return failureSeen(progress.step);
  const at = `step ${progress.begin[0]?.leaf.name} could start`;
  const why = failure('FlowTimeout', { timeout: flowTimeoutMs(job), at });
  return seenAs(why, exits.timeout);
}
