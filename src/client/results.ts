import { problem } from '../errors.js';
import { attachmentOf } from '../model/big-result.js';
import type { StoredDocument } from '../model/parse.js';
import type { Step } from '../model/step.js';
import type { Store } from '../store/store.js';

type WithResult = Step & { readonly result: unknown };

/**
 * The result of a step, named by its name, `<task>-<n>` or path, of its last attempt that has one;
 * of a large result the content of its attachment.
 *
 * @throws TwsError `result_missing`, and what the store throws
 */
export async function resultOf(store: Store, job: StoredDocument, word: string): Promise<unknown> {
  const steps = (job['steps'] ?? []) as readonly Step[];
  const isMeant = ({ name, task, index, path }: Step): boolean =>
    [name, `${task}-${index}`, path].includes(word);
  const step = steps.findLast((one): one is WithResult => isMeant(one) && 'result' in one);
  const missing = { job: job._id, step: word };
  if (step === undefined) throw problem('result_missing', missing);
  const name = attachmentOf(step);
  if (name === undefined) return step.result;
  const text = await store.attachment(job._id, name);
  if (text === undefined) throw problem('result_missing', missing);
  return JSON.parse(text) as unknown;
}
