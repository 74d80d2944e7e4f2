import type { LiveState } from './changes.js';

const words: Readonly<Record<LiveState, string>> = {
  opening: 'connecting …',
  live: 'live',
  away: 'no connection, trying again',
};

/** Whether the page is up to date by itself. */
export function LiveWord({ state }: { readonly state: LiveState }) {
  return (
    <span class={`live ${state}`} role="status">
      {words[state]}
    </span>
  );
}
