import { engineControlId, everyEngine } from '../model/engine-control.js';
import type { Store } from '../store/store.js';

/**
 * Whether nobody may begin a step there: the database moves, its move has not ended, or it was restored from a backup
 * and nobody has enabled engines since.
 */
export async function isMoving(store: Store): Promise<boolean> {
  const control = await store.get(engineControlId(everyEngine));
  const isHeld = control?.['restored'] !== undefined && control['enabled'] === false;
  return control?.['moving'] !== undefined || isHeld;
}
