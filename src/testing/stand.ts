import { isFinalState } from '../model/job.js';
import type { TestedJob } from './expectations.js';

/** One sentence about a job that does not go on, for whoever waits for it. */
export function standOf({ _id, state, steps = [] }: TestedJob): string {
  if (isFinalState(state)) return `Job "${_id}" has ended (${String(state)}).`;
  const open = steps.filter((step) => step['end'] === undefined);
  const told = open.map((step) => {
    const { name, state: own, signal, due } = step;
    const what = typeof signal === 'string' ? `waits for signal "${signal}"` : own;
    const when = typeof due === 'number' ? ` until ${new Date(due).toISOString()}` : '';
    return `step "${name}" ${what}${when}`;
  });
  const at = told.length === 0 ? 'no step has begun or waits' : told.join('; ');
  return `Job "${_id}" is not final (state ${JSON.stringify(state ?? '')}): ${at}.`;
}
