import type { CaughtFailure } from '../../reading/caught.js';

type Props = {
  readonly caught: readonly CaughtFailure[];
  readonly onStep: (step: string) => void;
};

/** Which failures were caught, and which branch goes on for each. */
export function Caught({ caught, onStep }: Props) {
  if (caught.length === 0) return null;
  return (
    <section class="box" aria-label="Caught failures">
      <h2>Caught</h2>
      <ul>
        {caught.map(({ at, clause, failed: { path, name, failure }, as }) => (
          <li key={`${at} ${clause}`}>
            <button type="button" class="quiet inline" onClick={() => onStep(path)}>
              {name}
            </button>{' '}
            failed: <strong>{failure.name}</strong>: {failure.message}
            <div class="muted">
              The flow goes on in branch {clause + 1} of its “catch”
              {as !== undefined && (
                <>
                  , which sees the failure as <code>results.{as}</code>
                </>
              )}
              .
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
