import { useEffect } from 'preact/hooks';
import { useLoaded, type Loaded } from './use-loaded.js';

/** Reads something again and again while the page is seen; `everyMs` after each answer. */
export function usePolled<T>(
  key: string,
  everyMs: number,
  read: (signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const loaded = useLoaded(key, read);
  const { value, error, reload } = loaded;
  useEffect(() => {
    if (value === undefined && error === undefined) return undefined;
    const again = setTimeout(() => {
      if (!document.hidden) reload();
    }, everyMs);
    const onVisible = (): void => {
      if (!document.hidden) reload();
    };
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      clearTimeout(again);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [value, error, reload, everyMs]);
  return loaded;
}
