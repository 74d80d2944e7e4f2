import type { LiveJob } from '../model/job.js';
import type { Failure, FailedStep } from '../model/step.js';
import { isStructure, type Node } from '../model/tree.js';
import type { FailedCount } from '../structures/kind.js';
import { kindOf } from '../structures/kinds.js';
import { repetitionsAround, slicedMap } from '../structures/paths.js';
import { jobSteps } from './attempts.js';
import { withCause } from './caught.js';
import { nodeAt } from './entries.js';
import { progressAt } from './progress.js';

/**
 * Returns the failure of a step as that of the flow. When the step is in an item of a map, the
 * message says how many items failed and which of them it tells of:
 * `3 of 60 items failed (2 % tolerated): item 17: The invoice has no amount.`
 */
export function failureOfFlow(job: LiveJob, step: FailedStep): Failure {
  const { path } = step;
  const failure = withCause(job, step);
  const message = ofMaps(job, path, failure.message);
  return message === failure.message ? failure : { ...failure, message };
}

function ofMaps(job: LiveJob, path: string, message: string): string {
  const map = slicedMap(path);
  // A slice names the item itself.
  const inner = map === path ? message : withCount(countAt(job, map), message);
  const around = repetitionsAround(path);
  // The parent of a slice tells of what is around its map.
  const own = around.slice(
    Math.max(
      0,
      around.findIndex(({ path: at }) => at === job.slice?.path),
    ),
  );
  return own.reduceRight((text, { path: at, number }) => {
    const named = `item ${number}: ${text}`;
    // Only the parent of a slice knows how many failed.
    if (at === job.slice?.path) return named;
    const count = countAt(job, at);
    return count === undefined ? text : withCount(count, named);
  }, inner);
}

function countAt(job: LiveJob, path: string): FailedCount | undefined {
  const node = nodeAt(job.tasks, path);
  if (node === undefined || !isStructure(node)) return undefined;
  const progressOf = (inside: Node, at: string) => progressAt(job, inside, at);
  return kindOf(node).countFailed?.(node, path, { steps: jobSteps(job), progressOf });
}

function withCount(count: FailedCount | undefined, message: string): string {
  if (count === undefined || count.failed === 0) return message;
  const { failed, total, tolerated } = count;
  const mercy = tolerated === undefined ? '' : ` (${tolerated} tolerated)`;
  return `${failed} of ${total} items failed${mercy}: ${message}`;
}
