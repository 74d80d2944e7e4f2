import { useEffect } from 'preact/hooks';
import { say } from '../parts/toasts.js';

/** By what is edited. It lives as long as the page is loaded, and goes when somebody signs out. */
const drafts = new Map<string, unknown>();

/** What was left unsaved under this key: the draft that `useUnsaved` was given. */
export const unsavedOf = (key: string): unknown => drafts.get(key);

/** Takes away what was left unsaved. */
export function forgetUnsaved(key: string): void {
  drafts.delete(key);
}

/** Takes away everything that was left unsaved: the next one who signs in is somebody else. */
export function forgetAllUnsaved(): void {
  drafts.clear();
}

/**
 * Keeps what is written while it is not stored, so that it is here again when somebody comes back from
 * another page, and says so when they leave. `draft` is undefined while there is nothing to keep.
 */
export function useUnsaved(key: string, draft: object | undefined): void {
  useEffect(() => {
    if (draft === undefined) drafts.delete(key);
    else {
      guard();
      drafts.set(key, draft);
    }
  }, [key, draft]);
  useEffect(
    () => () => {
      if (drafts.has(key)) say('Your changes are kept: they are here again when you come back.');
    },
    [key],
  );
}

let isGuarded = false;

/** The browser asks before it closes a page with changes that are not stored, on whatever page it is. */
function guard(): void {
  if (isGuarded) return;
  isGuarded = true;
  window.addEventListener('beforeunload', (event) => {
    if (drafts.size > 0) event.preventDefault();
  });
}
