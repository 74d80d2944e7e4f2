import { loadPlugins } from '../../src/plugin/loader.js';
import { attempt, type AttemptOptions } from '../plugin/attempt.js';

const registry = await loadPlugins({ folders: [], log: () => undefined });

/** Makes one attempt of a shipped plugin. */
export function run(name: string, params: Record<string, unknown>, options: AttemptOptions = {}) {
  return attempt(registry, name, params, options);
}
