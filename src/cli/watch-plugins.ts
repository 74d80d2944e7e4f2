import { watch, type FSWatcher } from 'node:fs';
import type { Log } from '../log.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { listed } from '../words.js';

/** Editors write a file in several steps: so long after the last one plugins are loaded again, ms. */
const restMs = 100;

/**
 * Loads plugins of these folders again when a file changes, and logs it. Folders that do not exist yet
 * are not watched. The answer ends it.
 */
export function watchPlugins(
  registry: PluginRegistry,
  folders: readonly string[],
  log: Log,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> = Promise.resolve();
  const reload = (): void => {
    reloading = reloading.then(async () => {
      const { loaded, removed, broken } = await registry.reload();
      if (loaded.length > 0) log.info({}, `Loaded: ${listed(loaded, 10)}.`);
      if (removed.length > 0) log.info({}, `Removed: ${listed(removed, 10)}.`);
      const kept = broken.filter((name) => registry.get(name) !== undefined);
      if (kept.length > 0) log.warn({}, `Still running the edition before: ${listed(kept, 10)}.`);
    });
  };
  const onChange = (): void => {
    clearTimeout(timer);
    timer = setTimeout(reload, restMs);
  };
  const watchers = folders.flatMap((folder) => watched(folder, onChange, log));
  return async () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    await reloading;
  };
}

function watched(folder: string, onChange: () => void, log: Log): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, { recursive: true }, onChange);
    watcher.on('error', (error) =>
      log.warn({}, `${folder} is not watched any more: ${String(error)}`),
    );
    return [watcher];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') log.warn({}, `${folder} cannot be watched: ${String(error)}`);
    return [];
  }
}
