import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { ApiProblem, send } from '../api.js';
import type { Problem } from '../../model/problems.js';
import type { CheckAnswer } from '../editor/marks.js';
import { say } from '../parts/toasts.js';
import type { Mistakes } from './mistakes.js';
import { submittedWords, type SubmitAnswer } from './submitted.js';

/** Where a submit stands. `found`: what the server said about it. */
export type Submitting = {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** What the server said, by the path that it is about. */
  readonly mistakes: Mistakes;
  /** Checks the job and, when nothing speaks against it, submits it and goes to its page. */
  readonly submit: (job: unknown, key: string) => Promise<void>;
  /** It was changed: what was said is about something else. */
  readonly forget: () => void;
};

const nothing = { problems: [], warnings: [] } as const;

/**
 * Submits jobs: the server checks first, and what it warns of has to be accepted. `onSubmitted` is called
 * before the page of the job is shown.
 */
export function useSubmit(onSubmitted: () => void): Submitting {
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [found, setFound] = useState<CheckAnswer>(nothing);
  /** It was warned of: submitting it once more, unchanged, accepts that. */
  const [isWarned, setWarned] = useState(false);

  const run = async (job: unknown, key: string): Promise<void> => {
    if (!isWarned) {
      const checked = await send<CheckAnswer>('POST', 'jobs/check', job);
      setFound(checked);
      if (checked.problems.length > 0) return;
      setWarned(checked.warnings.length > 0);
      if (checked.warnings.length > 0) return;
    }
    const headers = key === '' ? {} : { 'idempotency-key': key };
    const submitted = await send<SubmitAnswer>('POST', 'jobs', job, { headers });
    const { id } = submitted;
    say(submittedWords(submitted));
    onSubmitted();
    navigate(`/jobs/${encodeURIComponent(id)}`);
  };
  return {
    isBusy,
    error,
    ...found,
    mistakes: Object.fromEntries(
      [...found.warnings, ...found.problems].map(({ path, message }) => [path, message]),
    ),
    submit: async (job, key) => {
      setBusy(true);
      setError(undefined);
      try {
        await run(job, key);
      } catch (problem) {
        if (problem instanceof ApiProblem && problem.problems.length > 0) {
          setFound({ problems: problem.problems, warnings: [] });
        } else setError(problem);
      } finally {
        setBusy(false);
      }
    },
    forget: () => {
      setFound(nothing);
      setWarned(false);
      setError(undefined);
    },
  };
}
