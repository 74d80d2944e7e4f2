import type { Job, LiveJob } from '../../model/job.js';
import type { Picture } from '../../picture/picture.js';
import { pictureOf } from '../../picture/picture-of.js';
import { caughtIn, type CaughtFailure } from '../../reading/caught.js';
import { failedPath } from '../../reading/failed-path.js';
import { readTree } from '../../reading/node-states.js';
import { skippableIn } from '../../reading/skip.js';
import type { BegunJob, ShownJob } from '../../reading/trail.js';
import type { NodeState } from '../../structures/node-state.js';
import type { WrittenNode } from '../../structures/kind.js';
import { toTree } from '../../structures/to-tree.js';
import type { AnyDocument } from '../answers.js';

/** What is read from a job once, for its graph, its outline and its repairs. */
export type DrawnJob = {
  /** With states; undefined where the job has no steps to draw yet, or nothing that can be drawn. */
  readonly picture: Picture | undefined;
  /** The state of every run of a node, by its path in the job (`2.map.17.0`). */
  readonly states: ReadonlyMap<string, NodeState>;
  /** Path in the job of the step of which the failure of the job tells. */
  readonly failed: string | undefined;
  /** What was caught, and in which branch. */
  readonly caught: readonly CaughtFailure[];
  /** Whether the API would take a request to skip the step at a path in the job. */
  readonly maySkip: (path: string) => boolean;
};

/** Anything can stand in a document: what makes no picture is shown as JSON elsewhere. */
export function drawnJob(job: AnyDocument): DrawnJob {
  const { tasks, steps } = job;
  const tree = tasks === undefined ? undefined : unlessBroken(() => toTree(tasks as WrittenNode));
  const begun = Array.isArray(steps) ? (job as BegunJob) : undefined;
  const read =
    begun &&
    (unlessBroken(() => readTree(tree, begun)) ?? unlessBroken(() => readTree(undefined, begun)));
  const isSkippable = unlessBroken(() => skippableIn(job as unknown as Job));
  return {
    picture: tree && unlessBroken(() => pictureOf(tree, job as ShownJob, read?.nodes)),
    states: read?.runs ?? new Map(),
    failed: unlessBroken(() => failedPath(job as unknown as LiveJob)),
    caught: unlessBroken(() => caughtIn(job as unknown as LiveJob)) ?? [],
    maySkip: (path) => unlessBroken(() => isSkippable?.(path)) === true,
  };
}

function unlessBroken<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
