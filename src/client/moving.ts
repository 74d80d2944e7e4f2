import { engineControlId, everyEngine } from '../model/engine-control.js';
import type { Store } from '../store/store.js';

/** Whether nobody may begin a step there, because the database moves, or its move has not ended. */
export async function isMoving(store: Store): Promise<boolean> {
  return (await store.get(engineControlId(everyEngine)))?.['moving'] !== undefined;
}
