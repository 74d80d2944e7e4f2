import { problem } from '../errors.js';
import { attachmentOf } from '../model/big-result.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import type { Step } from '../model/step.js';
import { readJson } from '../store/exchange.js';
import type { Store } from '../store/store.js';
import { textOf } from '../words.js';

type WithResult = Step & { readonly result: unknown };

/**
 * The result of a step, named by its name, `<task>-<n>` or path, of its last attempt that has one;
 * of a large result the content of its attachment.
 *
 * @throws TwsError `result_missing`, and what the store throws
 */
export async function resultOf(store: Store, job: StoredDocument, word: string): Promise<unknown> {
  const { steps } = job;
  const isMeant = ({ name, task, index, path }: Record<string, unknown>): boolean =>
    [name, `${textOf(task)}-${textOf(index)}`, path].includes(word);
  const found = (Array.isArray(steps) ? steps.filter(isObject) : []).findLast(
    (one) => isMeant(one) && 'result' in one,
  );
  const step = found as WithResult | undefined;
  const missing = { job: job._id, step: word };
  if (step === undefined) throw problem('result_missing', missing);
  const name = attachmentOf(step);
  if (name === undefined) return step.result;
  const text = await store.attachment(job._id, name);
  // Anything may have been put in the place of a result.
  const result = text === undefined ? undefined : await readJson(text);
  if (result === undefined) throw problem('result_missing', missing);
  return result;
}
