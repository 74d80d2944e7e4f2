import { ApiProblem } from '../api.js';
import { withCode } from './with-code.js';

type Props = {
  readonly error: unknown;
  /** Offers to try again. */
  readonly again?: (() => void) | undefined;
};

/** What went wrong, and what can be done about it. */
export function ProblemBox({ error, again }: Props) {
  const { reason, hint, more } = problemContent(error);
  return (
    <div class="box problem" role="alert" tabIndex={-1}>
      <p>
        <strong>{withCode(reason)}</strong>
      </p>
      {hint !== '' && <p>{withCode(hint)}</p>}
      {more.length > 0 && (
        <ul>
          {more.map(({ path, message }) => (
            <li key={`${path} ${message}`}>{withCode(message)}</li>
          ))}
        </ul>
      )}
      {again !== undefined && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

function problemContent(error: unknown) {
  if (error instanceof ApiProblem) {
    const { reason, hint, problems } = error;
    // A single problem is what the reason says already.
    return { reason, hint, more: problems.length > 1 ? problems : [] };
  }
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'NotJson') return { reason, hint: '', more: [] };
  return { reason, hint: 'This page has a fault; load it again.', more: [] };
}
