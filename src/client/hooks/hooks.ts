import { createHash } from 'node:crypto';
import {
  decideDelivery,
  type Delivery,
  type DeliveryVerdict,
  type HookJob,
  type HookQuestion,
} from '../../decide/hooks/decide-delivery.js';
import type { Answer } from '../../decide/world.js';
import { TwsError } from '../../errors.js';
import { evaluate } from '../../evaluate/expressions.js';
import type { Hook } from '../../model/hook.js';
import { isObject } from '../../model/object.js';
import type { Store } from '../../store/store.js';
import { submitJob, type SubmitOptions, type Submitted } from '../jobs.js';

/** What comes of a delivery: nothing, a job, or a job that ends at once and says why. */
export type DeliveryOutcome = Exclude<DeliveryVerdict, { readonly kind: 'evaluate' }>;

/** What became of a delivery. `refused`: the job tells why. */
export type Delivered =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'started'; readonly job: Submitted }
  | { readonly kind: 'refused'; readonly job: Submitted; readonly reason: string };

/** Says what a delivery would start; nothing is stored. */
export async function judgeDelivery(hook: Hook, delivery: Delivery): Promise<DeliveryOutcome> {
  const answers = new Map<HookQuestion['id'], Answer>();
  const world = {
    answer: (id: HookQuestion['id']) => answers.get(id),
    hash: (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32),
  };
  for (;;) {
    const verdict = decideDelivery(hook, delivery, world);
    if (verdict.kind === 'evaluate') {
      const { id, expression, context } = verdict.question;
      answers.set(id, await evaluate({ id, expression, context: context as never }));
    } else return verdict;
  }
}

/**
 * Stores the job that a delivery starts, unless it is there already: a delivery that comes again, or to
 * another server at the same time, finds it.
 * @throws TwsError `id_taken`, `not_unique`, `document_refused`, and those of a database that is away
 */
export async function deliverToHook(
  store: Store,
  hook: Hook,
  delivery: Delivery,
  options: SubmitOptions = {},
): Promise<Delivered> {
  const outcome = await judgeDelivery(hook, delivery);
  switch (outcome.kind) {
    case 'ignore':
      return { kind: 'ignored' };
    case 'start':
      return { kind: 'started', job: await submitOnce(store, outcome.job, options) };
    case 'refuse': {
      const { job, reason } = outcome;
      return { kind: 'refused', job: await submitOnce(store, job, options), reason };
    }
  }
}

/** A delivery that is sent again may have other headers, and so other parameters. */
async function submitOnce(store: Store, job: HookJob, options: SubmitOptions): Promise<Submitted> {
  try {
    return await submitJob(store, job, options);
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'id_taken') throw error;
    const there = await store.get(job._id);
    const by = there?.['type'] === 'job' ? there['started_by'] : undefined;
    if (there === undefined || !isObject(by) || by['delivery'] !== job.started_by.delivery) {
      throw error;
    }
    return { id: there._id, rev: there._rev, existed: true };
  }
}
