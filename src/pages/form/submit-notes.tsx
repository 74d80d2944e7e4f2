import { ProblemBox } from '../parts/problem-box.js';
import type { Mistakes } from './mistakes.js';
import type { Submitting } from './use-submit.js';

type Props = {
  readonly submitting: Submitting;
  /** What the form itself found. */
  readonly own: Mistakes;
};

/** Why the job was not submitted. */
export function SubmitNotes({ submitting, own }: Props) {
  const { error, problems, warnings } = submitting;
  const count = Object.keys(own).length;
  if (count > 0) {
    return (
      <div class="box problem notes" role="alert" tabIndex={-1}>
        {count === 1 ? 'One input is not right yet.' : `${count} inputs are not right yet.`}
      </div>
    );
  }
  if (error !== undefined) return <ProblemBox error={error} />;
  if (problems.length > 0) {
    return (
      <div class="box problem notes" role="alert" tabIndex={-1}>
        <p>
          <strong>The server does not take it:</strong>
        </p>
        <Sentences all={problems} />
      </div>
    );
  }
  if (warnings.length === 0) return null;
  return (
    <div class="box warning notes" role="alert" tabIndex={-1}>
      <p>
        <strong>It is allowed, and perhaps not meant:</strong>
      </p>
      <Sentences all={warnings} />
    </div>
  );
}

function Sentences({ all }: { readonly all: Submitting['problems'] }) {
  return (
    <ul>
      {all.map(({ path, message }) => (
        <li key={`${path} ${message}`}>{message}</li>
      ))}
    </ul>
  );
}
