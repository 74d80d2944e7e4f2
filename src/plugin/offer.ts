import { offerOf, offerSignal, type OfferOf } from '../model/work.js';

/**
 * The signal for which a step waits that is to be done by a worker outside, in the queue and with the
 * priority of its job: `return wait(offerWork(job, { at: Date.now(), id: randomUUID() }))`. Workers
 * fetch it by `POST /ojs/v1/workers/fetch`. `id` must be another one for every attempt.
 */
export function offerWork(
  job: Readonly<Record<string, unknown>>,
  place: { readonly at: number; readonly id: string },
): string {
  return offerSignal(job, place);
}

/** The same for the parameters of a step, which may name another queue, until its job expires. */
export function offerOfWork(
  job: Readonly<Record<string, unknown>>,
  params: unknown,
  now: number,
  place: { readonly at: number; readonly id: string },
): OfferOf {
  return offerOf(job, params, now, place);
}
