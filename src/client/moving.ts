import { engineControlId, everyEngine } from '../model/engine-control.js';
import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';

const controlId = engineControlId(everyEngine);

/**
 * Whether nobody may begin a step there: the database moves, its move has not ended, or it was restored from a backup
 * and nobody has enabled engines since.
 */
export async function isMoving(store: Store): Promise<boolean> {
  return isHeldBy(await store.get(controlId));
}

/** As `isMoving`; while the feed is followed, as it was a moment ago. */
export async function isMovingNow(store: Store): Promise<boolean> {
  const control = await store.kept.answer(`document ${controlId}`, {
    read: () => store.get(controlId),
    madeOf: () => [controlId],
  });
  return isHeldBy(control);
}

function isHeldBy(control: StoredDocument | undefined): boolean {
  const isRestored = control?.['restored'] !== undefined && control['enabled'] === false;
  return control?.['moving'] !== undefined || isRestored;
}
