import { below, childPath, type Batch, type Node } from '../../model/tree.js';
import { isOfFlow } from '../../model/step.js';
import { isBusyBelow } from '../history.js';
import { workOf, type Interpreting, type Progress } from './progress.js';
import { siblingsProgress } from './siblings.js';

/**
 * Beside each other, each to its end, also those that are cancelled; then the callbacks, each exactly
 * once: `on_success` when all succeeded, else `on_failure`, and `on_complete` always and last. A batch fails when one of its
 * nodes failed (unless `on_fail` says to ignore that) or a callback did.
 */
export function batchProgress(node: Batch, path: string, interpreting: Interpreting): Progress {
  const { job, visit } = interpreting;
  const { batch, on_fail: onFail = 'wait' } = node;
  const siblings = batch.map((child, i) => {
    const at = childPath(path, 'batch', i);
    return { path: at, progress: visit(child, at) };
  });
  const total = batch.length;
  const jobs = siblingsProgress(siblings, { needed: total, total, onFail, cancelRest: false });
  const isRunning = siblings.some(({ path: at }) => isBusyBelow(job, at));
  // A node that is done may have something left that begins yet, as an attempt that is due later.
  const isLeft = jobs.begin.length + jobs.gates.length > 0;
  if (jobs.kind === 'open' || isRunning || isLeft) return { kind: 'open', ...workOf([jobs]) };
  const failed = siblings.some(({ progress }) => progress.kind !== 'done');
  const first = failed ? ('on_failure' as const) : ('on_success' as const);
  const outcome = callback(node[first], below(path, first), interpreting);
  if (outcome?.kind === 'open') return { ...outcome, ...workOf([jobs, outcome]) };
  const last = callback(node.on_complete, below(path, 'on_complete'), interpreting);
  if (last?.kind === 'open') return { ...last, ...workOf([jobs, last]) };
  const ends = [jobs, outcome, last].filter((end) => end !== undefined);
  const failure = ends.find((end) => end.kind === 'failed');
  return { ...(failure ?? jobs), ...workOf(ends) };
}

/** Callbacks run in a phase of their own, but for those in what follows a failure or a cancel. */
function callback(
  node: Node | undefined,
  path: string,
  { phase, visitAs }: Interpreting,
): Progress | undefined {
  return node === undefined ? undefined : visitAs(isOfFlow(phase) ? 'callback' : phase, node, path);
}
