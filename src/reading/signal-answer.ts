import { isObject } from '../model/object.js';

type Doc = Readonly<Record<string, unknown>>;

/**
 * What a job says to the sender of a signal. `pending`: nothing yet; `refused`: it changed nothing;
 * `failed`: the step that took it failed; `unanswered`: the job ended without an answer.
 */
export type SignalAnswer =
  | { readonly kind: 'pending' }
  /** `result_of`: the step whose result the answer is, which may be kept as an attachment. */
  | { readonly kind: 'answered'; readonly answer: unknown; readonly result_of?: string }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'failed'; readonly because: string }
  | { readonly kind: 'unanswered' };

/** Returns what a job as it is stored answers to the signal of that id. */
export function signalAnswer(job: Doc, signal: string): SignalAnswer {
  const refused = entriesOf(job['requests']).find(
    (record) => record['id'] === signal && typeof record['refused'] === 'string',
  );
  if (refused !== undefined) return { kind: 'refused', because: String(refused['refused']) };
  const steps = entriesOf(job['steps']);
  const at = steps.findLastIndex((step) => step['signal_id'] === signal);
  const step = steps[at];
  const open: SignalAnswer = isEnded(job) ? { kind: 'unanswered' } : { kind: 'pending' };
  if (step === undefined) return open;
  // Who refuses has answered, although the step fails.
  if (isRefusal(step)) return { kind: 'answered', answer: null };
  if (step['state'] !== '$$complete') return { kind: 'failed', because: messageOf(step) };
  const { answer_by: by, answer = null } = step;
  if (typeof by !== 'string') return { kind: 'answered', answer };
  const later = steps
    .slice(at + 1)
    .find((one) => one['name'] === by && one['phase'] === 'main' && one['state'] === '$$complete');
  if (later === undefined) return open;
  return { kind: 'answered', answer: later['result'] ?? null, result_of: by };
}

function entriesOf(list: unknown): readonly Doc[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function isRefusal({ failure }: Doc): boolean {
  return isObject(failure) && failure['name'] === 'NotApproved';
}

function isEnded({ state }: Doc): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

function messageOf({ failure, name }: Doc): string {
  const { message } = (isObject(failure) ? failure : {}) as Doc;
  return typeof message === 'string' ? message : `Step ${String(name)} failed.`;
}
