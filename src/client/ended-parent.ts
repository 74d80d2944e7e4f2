import { isMadeBy } from '../reading/parent.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { exits } from '../model/step.js';
import type { Store } from '../store/store.js';
import type { Reason } from './reason.js';
import { readSteps } from '../reading/step-reading.js';

/**
 * The job that a job was made for, as it is now; undefined when there is none or it is gone.
 */
export async function parentOf(
  store: Pick<Store, 'get'>,
  { parent }: StoredDocument,
): Promise<StoredDocument | undefined> {
  const id = isObject(parent) ? parent['job'] : undefined;
  return typeof id === 'string' ? store.get(id) : undefined;
}

/**
 * What is to be said of a child whose parent has failed with it: a final job stays as it is, also when
 * the child goes on and succeeds. Undefined: the parent has not ended, not failed, or not with this job.
 */
export function endedParent(child: StoredDocument, parent: StoredDocument): Reason | undefined {
  const { _id: id, state, exit } = parent;
  if (!isMadeBy(child, parent) || state !== '$$complete' || exit === exits.success)
    return undefined;
  const steps = readSteps(parent);
  const step = steps.findLast((one) => one.child === child._id);
  const isLast = step === steps.findLast(({ path }) => path === step?.path);
  if (step?.state !== '$$error' || !isLast) return undefined;
  const because = `Its parent job ${id}, whose step "${step.name}" failed with this job, has ended: failed. It stays as it is, also when this job succeeds.`;
  const todo = `Let it go on with \`tws retry ${id}\`: it takes the result of this job.`;
  return { kind: 'parent', because, todo };
}
