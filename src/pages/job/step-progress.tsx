import { readProgress } from './read-progress.js';

/** How far a step says it is: a bar where it tells a share, and what it says besides. */
export function StepProgress({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null) return null;
  const { share, words } = readProgress(value);
  if (share === undefined) return <p class="progress-text">{words}</p>;
  return (
    <p class="progress-line">
      <progress max={100} value={share} aria-label="Progress" /> {Math.round(share)} %
      {words !== '' && <span class="muted"> {words}</span>}
    </p>
  );
}
