import { useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { OpenForm } from '../../reading/open-forms.js';
import { isRecord } from '../editor/schema-at.js';
import { peopleWords } from '../../reading/people.js';
import { send } from '../api.js';
import { formOf } from '../form/flow-form.js';
import type { Mistakes } from '../form/mistakes.js';
import { SchemaForm } from '../form/schema-form.js';
import { firstParams, useParams } from '../form/use-params.js';
import { Ago } from '../parts/time.js';
import { ProblemBox } from '../parts/problem-box.js';
import { say } from '../parts/toasts.js';
import '../definitions/definitions.css';

type Props = {
  readonly form: OpenForm;
  /** Where the job is shown already, nothing leads to it. */
  readonly isOfJob?: boolean;
  readonly onAnswered: () => void;
};

/** A form that waits for its answer, made of its JSON Schema. */
export function OpenFormBox(props: Props) {
  const { form, isOfJob = false } = props;
  const { job, path, attempt, step, title = step, text, due, since, flow, form: schema } = form;
  const page = useRef<HTMLFormElement>(null);
  const { fields, input, mistakes, isBusy, error, answer } = useAnswer(props, page);
  return (
    <form
      ref={page}
      class="box"
      noValidate
      aria-label={`Form: ${title}`}
      onSubmit={(event) => {
        event.preventDefault();
        void answer();
      }}
    >
      <h2>{title}</h2>
      {text !== undefined && <p class="asked">{text}</p>}
      <p class="muted">
        {!isOfJob && (
          <>
            <Link href={`/jobs/${encodeURIComponent(job)}`}>{job}</Link> of {flow},{' '}
          </>
        )}
        for {peopleWords(form)}, since <Ago at={since} />
        {due !== undefined && (
          <>
            , due <Ago at={due} />
          </>
        )}
      </p>
      {fields === undefined ? (
        <label>
          Answer as JSON
          <textarea
            rows={6}
            spellcheck={false}
            value={input.text}
            onInput={({ currentTarget }) => input.setText(currentTarget.value)}
          />
        </label>
      ) : (
        <SchemaForm
          field={fields.field}
          draft={input.draft}
          onDraft={input.setDraft}
          path="params"
          mistakes={mistakes}
        />
      )}
      {error !== undefined && <ProblemBox error={error} />}
      <div class="buttons">
        <button class="primary" disabled={isBusy} data-form={`${job} ${path} ${attempt}`}>
          {isBusy ? 'Sending …' : answerWord(schema, input.given)}
        </button>
      </div>
    </form>
  );
}

/** What the button does: an approval that is not ticked is a refusal, and says so before it is sent. */
function answerWord({ required }: OpenForm['form'], given: unknown): string {
  if (!Array.isArray(required) || !required.includes('approved')) return 'Answer';
  return isRecord(given) && given['approved'] === true ? 'Approve' : 'Refuse';
}

/** What is filled in, what is wrong with it, and what sends it. */
function useAnswer(
  { form: { job, path, attempt, form: schema }, isOfJob = false, onAnswered }: Props,
  page: { readonly current: HTMLFormElement | null },
) {
  const fields = useMemo(() => formOf({ document: { schema } }), [schema]);
  const input = useParams(fields, firstParams(fields, undefined));
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mistakes: Mistakes = isTried ? input.mistakes : {};
  const answer = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(input.mistakes).length > 0) {
      requestAnimationFrame(() =>
        page.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
      );
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      const via = isOfJob ? 'page' : 'inbox';
      const body = { step: path, attempt, data: input.given ?? {}, via };
      const { step } = await send<{ readonly step: string }>(
        'POST',
        `jobs/${encodeURIComponent(job)}/answer`,
        body,
      );
      say(`Step ${step} is answered.`);
      onAnswered();
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return { fields, input, mistakes, isBusy, error, answer };
}
