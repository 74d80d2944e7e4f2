import type { StoredDocument } from '../../model/document.js';
import { allDisabled } from '../../model/engine-control.js';
import { counted } from '../../words.js';
import type { EngineFacts } from '../lines.js';
import type { DoctorFinding } from './finding.js';

const what = 'engines';

/** How many engines live, and whether one takes work. `control` is what somebody wants of all engines, if anything. */
export function enginesFinding(
  engines: readonly EngineFacts[],
  control: StoredDocument | undefined,
  waiting: number,
): DoctorFinding {
  const alive = engines.filter((engine) => engine.alive);
  const lost = engines.length - alive.length;
  const disabled = alive.filter(({ state }) => state === 'disabled').length;
  const found = `${alive.length} running${disabled === 0 ? '' : `, ${disabled} of them disabled`}${lost === 0 ? '' : `, ${lost} without a sign of life`}; ${counted(waiting, 'job')} not ended`;
  if (control?.['enabled'] === false) {
    const { because, todo } = allDisabled(control);
    return { what, verdict: 'warn', says: `${because} Found: ${found}`, todo };
  }
  if (alive.length === 0) {
    return { what, verdict: 'warn', says: found, todo: 'Start one with `tws start`.' };
  }
  if (disabled < alive.length) return { what, verdict: 'ok', says: found };
  return {
    ...{ what, verdict: 'warn', says: found },
    todo: 'None takes new work; let one do so with `tws enable ENGINE`.',
  };
}
