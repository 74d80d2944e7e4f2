import type { Catalogued } from '../../model/catalogue.js';
import type { LiveJob } from '../../model/job.js';
import { toRetryPolicy, type RetryPolicy } from '../../model/retry.js';
import type { RetryDefaults } from '../../model/usual-retry.js';
import type { Failure } from '../../model/step.js';
import { matchesFailure } from '../../model/failure-pattern.js';
import { without } from '../../model/record.js';

/**
 * Returns what the flow's error catalogue says of a failure: the entry that names it exactly, else
 * the one with the longest matching pattern.
 */
export function cataloguedAs(
  { flow_definition: { errors = {} } }: LiveJob,
  failure: Failure,
): Catalogued {
  const [best] = Object.keys(errors)
    .filter((pattern) => matchesFailure(pattern, failure))
    .sort((a, b) => Number(a.includes('*')) - Number(b.includes('*')) || b.length - a.length);
  return best === undefined ? {} : (errors[best] as Catalogued);
}

/**
 * Returns the failure as it is stored: with its kind, whether it is fatal, and whether it may be
 * retried.
 */
export function judged(failure: Failure, { severity, retry, kind }: Catalogued): Failure {
  const isFinal = severity === 'fatal' || retry === false;
  const kept = isFinal || retry === undefined ? failure : without(failure, 'retryable');
  return {
    ...kept,
    ...(kind === undefined ? {} : { kind }),
    ...(severity === 'fatal' ? { severity } : {}),
    ...(isFinal ? { retryable: false } : {}),
  };
}

const never: RetryPolicy = toRetryPolicy(0);
const anything = ['*'];

/**
 * Returns the retry policy for a failure: that of the catalogue, else `own`, which is the step's.
 */
export function policyFor(
  { severity, retry }: Catalogued,
  own: RetryPolicy,
  defaults: RetryDefaults,
): RetryPolicy {
  if (retry === undefined) return severity === 'warning' ? never : own;
  if (typeof retry === 'boolean') {
    return retry ? { ...without(own, 'never'), on: anything } : never;
  }
  const policy = toRetryPolicy(retry, defaults);
  return { ...policy, on: policy.on ?? anything };
}
