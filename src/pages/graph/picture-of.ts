import { toTree } from '../../structures/to-tree.js';
import type { Picture } from '../../picture/picture.js';
import { pictureOf } from '../../picture/picture-of.js';
import type { WrittenNode } from '../../structures/schema.js';
import type { AnyDocument } from '../answers.js';

/** The picture of a job document, with states; undefined where it has no steps to draw yet. */
export function pictureOfJob(job: AnyDocument): Picture | undefined {
  const { tasks } = job;
  return tasks === undefined ? undefined : drawn(tasks, job);
}

/** The picture of a flow document; undefined where its tasks cannot be drawn. */
export function pictureOfFlow({ tasks, ...settings }: AnyDocument): Picture | undefined {
  return tasks === undefined ? undefined : drawn(tasks, { flow_definition: settings });
}

/** Anything can stand in a document: what makes no picture is shown as JSON elsewhere. */
function drawn(tasks: unknown, job: AnyDocument): Picture | undefined {
  try {
    return pictureOf(toTree(tasks as WrittenNode), job);
  } catch {
    return undefined;
  }
}
