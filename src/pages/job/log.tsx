import { useState } from 'preact/hooks';
import { clockTime, exact } from '../parts/time.js';

/** A line that a step told, or a note. */
export type LogRow = {
  readonly at: number;
  /** The step, or who noted it; undefined where that is clear. */
  readonly from: string | undefined;
  readonly message: string;
  readonly data?: unknown;
};

/** More lines are shown on demand. */
const mostLines = 300;

/** Lines, the oldest first. */
export function LogLines({ lines }: { readonly lines: readonly LogRow[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(-mostLines);
  return (
    <>
      {shown.length < lines.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {lines.length - shown.length} earlier lines
        </button>
      )}
      <ol class="log" tabIndex={0} aria-label="Log">
        {shown.map(({ at, from, message, data }, i) => (
          <li key={i}>
            <time dateTime={new Date(at).toISOString()} title={exact(at)}>
              {clockTime(at)}
            </time>
            {from !== undefined && <b>{from}</b>}
            <span>
              {message}
              {data !== undefined && <code> {JSON.stringify(data)}</code>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
