import type { LiveJob } from '../../model/job.js';
import type { Intent } from '../intent.js';
import type { Acquire, Query } from '../queries.js';
import { withNextDue } from '../waiting/sleep.js';

/** An intent that writes the job. */
export type Writing = Extract<Intent, { kind: 'write' | 'claim' | 'spawn' }>;

/**
 * Returns what to write for a job that was settled and decided upon, but not stored in between:
 * when the decision itself writes nothing, the settled job is written, with the time of a wait
 * (D5).
 */
export function carrying(settled: LiveJob, intent: Exclude<Intent, Query | Acquire>): Writing {
  switch (intent.kind) {
    case 'write':
    case 'claim':
    case 'spawn':
      return intent;
    case 'wait':
      return { kind: 'write', job: withNextDue(settled, intent) };
    case 'ignore':
    case 'abort':
      return { kind: 'write', job: settled };
  }
}
