import { useRef, useState } from 'preact/hooks';
import { forgetUnsaved, unsavedOf, useUnsaved } from '../definitions/unsaved.js';
import type { JobDraft } from './job-draft.js';
import { useParams, type ParamsInput, type KeptParams } from './use-params.js';
import type { FlowForm } from './flow-form.js';

/** All that is filled in for a job. */
type FilledIn = { readonly params: KeptParams; readonly job: JobDraft };

/** A job that is filled in. */
export type FillingIn = {
  readonly filling: ParamsInput;
  readonly job: JobDraft;
  readonly setJob: (job: JobDraft) => void;
  /** What was filled in before is here again. */
  readonly isRestored: boolean;
  /** Nothing of it is to be kept: it was submitted, or is to begin anew. */
  readonly forget: () => void;
};

/**
 * The inputs of a job, kept under a key while somebody looks at other pages. `untouched`: what a new form
 * begins with; nothing is kept of one that still has that.
 */
export function useFillingIn(
  key: string,
  form: FlowForm | undefined,
  untouched: () => FilledIn,
): FillingIn {
  const [first] = useState(untouched);
  const [before] = useState(() => unsavedOf(key) as FilledIn | undefined);
  const isDone = useRef(false);
  const begin = before ?? first;
  const filling = useParams(form, begin.params);
  const [job, setJob] = useState(begin.job);
  const now: FilledIn = { params: filling.kept, job };
  const isTouched = JSON.stringify(now) !== JSON.stringify(first);
  useUnsaved(key, isTouched && !isDone.current ? now : undefined);
  return {
    filling,
    job,
    setJob,
    isRestored: before !== undefined,
    forget: () => {
      isDone.current = true;
      forgetUnsaved(key);
    },
  };
}
