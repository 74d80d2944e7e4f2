import type { StoredDocument } from '../../model/document.js';
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
  if (control?.['enabled'] === false) return held(control, found);
  if (alive.length === 0) {
    return { what, verdict: 'warn', says: found, todo: 'Start one with `tws start`.' };
  }
  if (disabled < alive.length) return { what, verdict: 'ok', says: found };
  return {
    ...{ what, verdict: 'warn', says: found },
    todo: 'None takes new work; let one do so with `tws enable ENGINE`.',
  };
}

/** No engine begins a step: somebody said so, the database moves, or it was restored. */
function held(control: StoredDocument, found: string): DoctorFinding {
  const { reason, restored, moving } = control;
  const why = typeof reason === 'string' ? ` ${reason}` : '';
  return {
    what,
    verdict: 'warn',
    says: `All engines are disabled: none begins a step here.${why} Found: ${found}`,
    todo: todoOf({ isRestored: restored !== undefined, isMoving: moving !== undefined }),
  };
}

function todoOf({
  isRestored,
  isMoving,
}: {
  readonly isRestored: boolean;
  readonly isMoving: boolean;
}): string {
  if (isMoving) return 'Repeat `tws move`, or undo it with `tws move --undo`.';
  const enable = "`tws enable '*'`";
  if (!isRestored) return `Let them work with ${enable}.`;
  return `Let them work with ${enable} once nothing works on the original any more.`;
}
