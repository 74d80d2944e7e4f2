import type { Log } from '../log.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { listed } from '../words.js';
import { watchFolder } from './watch-folder.js';

/** Editors write a file in several steps: so long after the last one plugins are loaded again, ms. */
const restMs = 100;

/**
 * Loads plugins of these folders again when a file changes, and logs it; a folder may be made later.
 * Returns what ends that, which resolves when the last reload has ended.
 */
export function watchPlugins(
  registry: PluginRegistry,
  folders: readonly string[],
  log: Log,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> = Promise.resolve();
  const reload = (): void => {
    reloading = reloading
      .then(() => reloadPlugins(registry, log))
      .catch((error: unknown) => log.warn({}, `Plugins were not loaded again: ${String(error)}`));
  };
  const onChange = (): void => {
    clearTimeout(timer);
    timer = setTimeout(reload, restMs);
  };
  const ends = folders.map((folder) =>
    watchFolder(folder, {
      onChange,
      onTrouble: (error) => log.warn({}, `${folder} is not watched: ${String(error)}`),
    }),
  );
  return async () => {
    for (const end of ends) end();
    clearTimeout(timer);
    await reloading;
  };
}

async function reloadPlugins(registry: PluginRegistry, log: Log): Promise<void> {
  const { loaded, removed, broken } = await registry.reload();
  if (loaded.length > 0) log.info({}, `Loaded: ${listed(loaded, 10)}.`);
  if (removed.length > 0) log.info({}, `Removed: ${listed(removed, 10)}.`);
  const kept = broken.filter((name) => registry.get(name) !== undefined);
  if (kept.length > 0) log.warn({}, `Still running the edition before: ${listed(kept, 10)}.`);
}
