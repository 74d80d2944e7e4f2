import { useState } from 'preact/hooks';
import type { OpenForm } from '../../reading/open-forms.js';
import { get } from '../api.js';
import { useLoaded } from '../live/use-loaded.js';
import { usePolled } from '../live/use-polled.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { OpenFormBox } from './open-form.js';

type Answer = { readonly forms: readonly OpenForm[]; readonly more?: boolean };

const everyMs = 5_000;

/** The page of the forms that wait for an answer: one's own, or all. */
export function InboxPage() {
  const [isAll, setAll] = useState(false);
  const { value, error, reload } = usePolled(`inbox ${isAll}`, everyMs, (signal) =>
    get<Answer>(isAll ? 'inbox?all=true' : 'inbox', { signal }),
  );
  return (
    <>
      <PageHead title="Inbox">
        <label>
          <input
            type="checkbox"
            checked={isAll}
            onChange={({ currentTarget }) => setAll(currentTarget.checked)}
          />{' '}
          Everybody’s
        </label>
      </PageHead>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {value === undefined
        ? error === undefined && <Loading what="the inbox" />
        : value.forms.map((form) => (
            <OpenFormBox key={keyOf(form)} form={form} onAnswered={reload} />
          ))}
      {value?.forms.length === 0 && (
        <p class="box">Nothing waits for {isAll ? 'a person' : 'you'}.</p>
      )}
      {value?.more === true && <p class="muted">There are others; what is due first is shown.</p>}
    </>
  );
}

type OfJob = {
  readonly job: string;
  /** What its steps ask now, as a text; empty: nothing. */
  readonly asked: string;
};

/** The forms of one job, on its page. */
export function FormsOfJob({ job, asked }: OfJob) {
  return asked === '' ? null : <AskingForms job={job} asked={asked} />;
}

function AskingForms({ job, asked }: OfJob) {
  const { value, error, reload } = useLoaded(`forms ${job} ${asked}`, (signal) =>
    get<Answer>(`jobs/${encodeURIComponent(job)}/forms`, { signal }),
  );
  if (value === undefined) return error === undefined ? null : <ProblemBox error={error} />;
  return (
    <>
      {value.forms.map((form) => (
        <OpenFormBox key={keyOf(form)} form={form} isOfJob onAnswered={reload} />
      ))}
    </>
  );
}

function keyOf({ job, path, attempt }: OpenForm): string {
  return `${job} ${path} ${attempt}`;
}
