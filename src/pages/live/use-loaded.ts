import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Something that was read: the newest value stays while it is read again, and when that fails. */
export type Loaded<T> = {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
};

/** Reads something when the page appears, when `key` changes, and on demand; older answers are dropped. */
export function useLoaded<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown; done: boolean }>({
    key,
    done: false,
  });
  const current = useRef<AbortController>();
  const reader = useRef(read);
  reader.current = read;
  const reload = useCallback(() => {
    current.current?.abort();
    const abort = new AbortController();
    current.current = abort;
    const { signal } = abort;
    setState((before) => (before.key === key ? { ...before, done: false } : { key, done: false }));
    reader.current(signal).then(
      (value) => {
        if (!signal.aborted) setState({ key, value, done: true });
      },
      (error: unknown) => {
        if (signal.aborted) return;
        setState((before) => ({
          key,
          ...(before.key === key && before.value !== undefined ? { value: before.value } : {}),
          error,
          done: true,
        }));
      },
    );
  }, [key]);
  useEffect(() => {
    reload();
    return () => current.current?.abort();
  }, [reload]);
  const isOwn = state.key === key;
  return {
    value: isOwn ? state.value : undefined,
    error: isOwn ? state.error : undefined,
    isLoading: !isOwn || !state.done,
    reload,
  };
}
