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
  const { job, step, title = step, text, due, since, flow } = form;
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
        // An approval is never given by the Enter key alone.
        if (!isApproval(form)) void answer();
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
      <AnswerButtons form={form} isBusy={isBusy} answer={answer} />
    </form>
  );
}

type ButtonProps = {
  readonly form: OpenForm;
  readonly isBusy: boolean;
  readonly answer: (decision?: Decision) => Promise<void>;
};

/** An approval has a button for each answer. */
function AnswerButtons({ form, isBusy, answer }: ButtonProps) {
  if (isBusy || !isApproval(form)) {
    return (
      <div class="buttons">
        <button class="primary" disabled={isBusy}>
          {isBusy ? 'Sending …' : 'Answer'}
        </button>
      </div>
    );
  }
  const decide = (approved: boolean) => (): void => void answer({ approved });
  return (
    <div class="buttons">
      <button type="button" class="primary" onClick={decide(true)}>
        Approve
      </button>
      <button type="button" class="risky" onClick={decide(false)}>
        Refuse
      </button>
    </div>
  );
}

/** The answer that a button of an approval gives. */
type Decision = { readonly approved: boolean };

/** A form may ask for a text of that name, which buttons cannot give. */
function isApproval({ form: { required, properties } }: OpenForm): boolean {
  const approved = isRecord(properties) ? properties['approved'] : undefined;
  const isFlag = isRecord(approved) && approved['type'] === 'boolean';
  return isFlag && Array.isArray(required) && required.includes('approved');
}

/** What is to be filled in: the buttons of an approval say whether it is approved. */
function askedBy(form: OpenForm): Readonly<Record<string, unknown>> {
  const { form: schema } = form;
  if (!isApproval(form)) return schema;
  const { required = [], properties = {}, ...more } = schema;
  const { approved: _approved, ...others } = isRecord(properties) ? properties : {};
  const needed = (required as readonly unknown[]).filter((key) => key !== 'approved');
  return { ...more, properties: others, required: needed };
}

/** What is filled in, what is wrong with it, and what sends it. */
function useAnswer(
  { form, isOfJob = false, onAnswered }: Props,
  page: { readonly current: HTMLFormElement | null },
) {
  const { job, path, attempt } = form;
  const fields = useMemo(() => formOf({ document: { schema: askedBy(form) } }), [form.form]);
  const input = useParams(fields, firstParams(fields, undefined));
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mistakes: Mistakes = isTried ? input.mistakes : {};
  const focusOn = (selector: string): void => {
    requestAnimationFrame(() => page.current?.querySelector<HTMLElement>(selector)?.focus());
  };
  const answer = async (decision?: Decision): Promise<void> => {
    setTried(true);
    if (Object.keys(input.mistakes).length > 0) {
      focusOn('[aria-invalid="true"]');
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      const via = isOfJob ? 'page' : 'inbox';
      const body = {
        step: path,
        attempt,
        data: { ...(isRecord(input.given) ? input.given : {}), ...decision },
        via,
      };
      const { step } = await send<{ readonly step: string }>(
        'POST',
        `jobs/${encodeURIComponent(job)}/answer`,
        body,
      );
      say(`Step ${step} is answered.`);
      onAnswered();
    } catch (caught) {
      setError(caught);
      // The button that was pressed is gone meanwhile, and the focus with it.
      focusOn('[role="alert"]');
    } finally {
      setBusy(false);
    }
  };
  return { fields, input, mistakes, isBusy, error, answer };
}
