import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

/** What `watchFolder` calls. */
export type FolderListeners = {
  /** Something in the folder, or the folder itself, may have changed. */
  readonly onChange: () => void;
  /** The folder is not watched any more, or cannot be. */
  readonly onTrouble: (error: unknown) => void;
};

/**
 * Watches a folder with all in it. While it does not exist, the nearest folder above it is watched
 * until it does. Returns what ends that.
 */
export function watchFolder(folder: string, { onChange, onTrouble }: FolderListeners): () => void {
  let watcher: FSWatcher | undefined;
  /** What is watched, as the file system numbers it: a folder may be removed and made again. */
  let watched = '';
  const onEvent = (isWithin: boolean): void => {
    const found = nearest(folder);
    if (isWithin || found.path === folder) onChange();
    if (found.key !== watched) begin();
  };
  const begin = (): void => {
    watcher?.close();
    const found = nearest(folder);
    const isWithin = found.path === folder;
    watched = found.key;
    try {
      watcher = watch(found.path, { recursive: isWithin }, () => onEvent(isWithin));
      watcher.on('error', onTrouble);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onTrouble(error);
    }
    // It may have been made, or removed, before it was watched.
    if (nearest(folder).key !== watched) onEvent(isWithin);
  };
  begin();
  return () => watcher?.close();
}

/** The folder, or the nearest one above it that exists. */
function nearest(path: string): { readonly path: string; readonly key: string } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return { path, key: `${path} ${found.dev} ${found.ino}` };
  const above = dirname(path);
  return above === path ? { path, key: path } : nearest(above);
}
