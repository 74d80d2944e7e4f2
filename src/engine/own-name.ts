import { startEngine, type Engine, type EngineOptions } from './engine.js';
import { isLeft, isNameTaken } from './name.js';
import type { Retry } from './patience.js';

/** So many engines may share one saved id; after them an engine gets a new one. */
const mostOfOne = 100;

/**
 * Starts an engine under a saved id: the first of `ID`, `ID-2`, `ID-3` … that no other engine has. Of
 * two that want one at once the store gives it to one, and the other takes the next. So an engine that
 * is started again has the id it had, and two of one folder have two.
 */
export async function startUnderSavedId(
  id: string,
  options: EngineOptions,
  retry: Retry,
): Promise<Engine> {
  for (let count = 1; count <= mostOfOne; count += 1) {
    const name = count === 1 ? id : `${id}-${count}`;
    const there = await retry(() => options.store.get(`engine:${name}`));
    if (there !== undefined && !isLeft(there)) continue;
    try {
      return await startEngine({ ...options, name });
    } catch (error) {
      if (!isNameTaken(error)) throw error;
    }
  }
  return startEngine(options);
}
