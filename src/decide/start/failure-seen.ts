import { failure } from '../../model/failures.js';
import { isCancelRequested, type LiveJob } from '../../model/job.js';
import {
  exits,
  isFailed,
  type Failure,
  type FailedStep,
  type FailureSeen,
  type Step,
} from '../../model/step.js';
import { childPath, isStructure, type Node } from '../../model/tree.js';
import type { Batch } from '../../structures/batch.js';
import { cancelled } from '../finish/finish.js';
import { flowTimeoutMs } from '../../reading/clock.js';
import { lastAttempt } from '../../reading/attempts.js';
import { nodeOf } from '../../reading/entries.js';
import { batchCalling, isOfEnd } from '../../structures/paths.js';
import { interpret, progressAt } from '../../reading/progress.js';
import { firstOf } from '../../structures/siblings.js';

/**
 * Returns the failure that handlers, undo tasks, callbacks of a batch and the cancel branch see:
 * that of the handled step, of the first failed node of the batch, of the flow, or the cancel.
 * Undefined for all other steps, and for callbacks of a batch without failures.
 */
export function failureFor(
  job: LiveJob,
  { path }: Pick<Step, 'path'>,
): { readonly failure?: FailureSeen } {
  if (!/error|cancel|undo|on_/.test(path)) return {};
  const handled = /^(.+)\.error$/.exec(path)?.[1];
  const step = handled === undefined ? undefined : lastAttempt(job, handled);
  if (step !== undefined && isFailed(step)) return { failure: ofStep(step) };
  const failed = batchFailure(job, path);
  if (failed !== undefined) return { failure: ofStep(failed) };
  return isOfEnd(path) ? { failure: ofFlow(job) } : {};
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
  if (isCancelRequested(job)) return seen(cancelled(job), exits.cancelled);
  const progress = interpret(job, job.tasks, 'main');
  if (progress.kind === 'failed') return ofStep(progress.step);
  const at = `step ${progress.begin[0]?.leaf.name} could start`;
  const why = failure('FlowTimeout', { timeout: flowTimeoutMs(job), at });
  return seen(why, exits.timeout);
}

function ofStep({ failure: why, name, exit, attempt }: FailedStep): FailureSeen {
  return { ...seen(why, exit), step: name, attempt };
}

function seen({ name, message, code, ...more }: Failure, exit: number): FailureSeen {
  const kind = typeof more['kind'] === 'string' ? more['kind'] : null;
  return { name, message, code: code ?? null, kind, step: null, exit, attempt: null };
}
