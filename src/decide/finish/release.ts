import { failure } from '../../model/failures.js';
import { exits, type FailedStep, type LiveStep } from '../../model/step.js';

/**
 * Returns a claim as ended without having been started; its step may begin again at once. Its times
 * follow from the claim alone, so that every engine writes the same.
 */
export function released(step: LiveStep): FailedStep {
  const why = { ...failure('Released', {}), step: step.name };
  const ending = { end: step.accepted, exit: exits.cancelled, failure: why, due: step.accepted };
  return { ...step, state: '$$cancelled', ...ending };
}

/** Returns a claim as one that has begun nothing yet. */
export function asReady({ start: _begun, ...claim }: Begun): LiveStep {
  return { ...claim, state: '$$ready' };
}

type Begun = LiveStep & { readonly start?: unknown };
