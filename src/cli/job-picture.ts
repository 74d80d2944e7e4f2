import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { isStructure, type Node } from '../model/tree.js';
import type { Picture } from '../picture/picture.js';
import type { ShownJob } from '../reading/trail.js';
import { pictureOf } from '../picture/picture-of.js';
import { progressIn } from '../reading/job-progress.js';
import { listed } from '../words.js';
import { plain } from './safe.js';

/** The picture of a job document; undefined before it has begun and where it cannot be read. */
export function pictureOfBegun(job: StoredDocument): Picture | undefined {
  const { tasks, steps, state } = job;
  if (typeof state !== 'string' || !isObject(tasks) || !Array.isArray(steps)) return undefined;
  try {
    const tree = tasks as unknown as Node;
    return isStructure(tree) ? pictureOf(tree, job as unknown as ShownJob) : undefined;
  } catch {
    // A document that was edited by hand into something else is shown without its steps.
    return undefined;
  }
}

/** `3 of 7 steps done, now: load, mail`: how far a job is; empty where nothing is known. */
export function progressText(job: StoredDocument): string {
  const picture = pictureOfBegun(job);
  if (picture === undefined) return '';
  const { done, failed, total, current } = progressIn(picture.nodes);
  const bad = failed === 0 ? '' : `, ${failed} failed`;
  const names = current.map(({ label, state, attempts }) => {
    const again = attempts === undefined ? '' : ` (attempt ${attempts})`;
    return `${plain(label)}${again}${state === 'active' ? '' : ` ${state}`}`;
  });
  const now = names.length === 0 ? '' : `, now: ${listed(names)}`;
  return `${done} of ${total === 1 ? '1 step' : `${total} steps`} done${bad}${now}`;
}
