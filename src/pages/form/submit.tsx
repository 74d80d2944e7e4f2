import { insteadOfDeprecated } from '../../model/welcome.js';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { get } from '../api.js';
import type { StoredJob } from '../answers.js';
import { DefinitionAway } from '../definitions/away.js';
import '../definitions/definitions.css';
import { useKnown, type KnownDefinitions } from '../definitions/known.js';
import {
  pageOf,
  definitionPath,
  stateOf,
  fieldText,
  type StoredDefinition,
} from '../definitions/stored.js';
import { flowOf } from '../definitions/uses.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { levelRefusal, who } from '../session/session.js';
import { formOf, whyJson, type FlowForm } from './flow-form.js';
import { emptyJob, jobToSubmit, mistakesInJob, type JobDraft } from './job-draft.js';
import { JobInputs } from './job-inputs.js';
import type { Mistakes } from './mistakes.js';
import { ParamsEditor } from './params-editor.js';
import { SchemaForm } from './schema-form.js';
import { SubmitNotes } from './submit-notes.js';
import { sealedIn } from './sealed.js';
import { useFillingIn } from './use-filling-in.js';
import { firstParams, type ParamsInput } from './use-params.js';
import { useSubmit, type Submitting } from './use-submit.js';

/** The page that submits a job for a flow: `flow` is its id, its name, or `name::owner`. */
export function SubmitPage({ flow: called }: { readonly flow: string }) {
  const again = new URLSearchParams(useSearch()).get('again');
  const known = useKnown();
  const { value, error, reload } = useLoaded(`submit ${called} ${again ?? ''}`, async (signal) => {
    const [flow, job] = await Promise.all([
      get<StoredDefinition>(definitionPath('flow', called), { signal }),
      again === null ? undefined : get<StoredJob>(`jobs/${encodeURIComponent(again)}`, { signal }),
    ]);
    return { flow, params: job?.document['params'] };
  });
  if (value === undefined) {
    if (error === undefined) return <Loading what="the flow" />;
    // Where a job is submitted again, that one may be missing, too.
    return again === null ? (
      <DefinitionAway kind="flow" name={called} error={error} again={reload} />
    ) : (
      <ProblemBox error={error} again={reload} />
    );
  }
  if (known.value === undefined && known.error === undefined) return <Loading what="the tasks" />;
  return <SubmitForms key={again} again={again} {...value} known={known.value} />;
}

type Props = {
  readonly flow: StoredDefinition;
  /** Parameters to begin with, of an earlier job. */
  readonly params: unknown;
  readonly known: KnownDefinitions | undefined;
  /** That job. */
  readonly again: string | null;
};

/** The page with its inputs; to begin anew, all of them are made again. */
function SubmitForms(props: Props) {
  const [edition, setEdition] = useState(0);
  return <SubmitView key={edition} {...props} onAnew={() => setEdition(edition + 1)} />;
}

function SubmitView({ onAnew, ...props }: Props & { readonly onAnew: () => void }) {
  const { flow, known } = props;
  const page = useRef<HTMLFormElement>(null);
  const { form, filledIn, submitting, own, mistakes, jobWith, submit } = useJobForm(props, page);
  const { filling, job, setJob, isRestored, forget } = filledIn;
  return (
    <>
      <PageHead title={`Submit ${flow.name}`}>
        <Link class="button" href={pageOf('flow', flow.id)}>
          The flow
        </Link>
      </PageHead>
      <About flow={flow} />
      {isRestored && (
        <Restored
          onAnew={() => {
            forget();
            onAnew();
          }}
        />
      )}
      <form
        ref={page}
        class="box submit"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Parameters
          flow={flow}
          known={known}
          form={form}
          filling={filling}
          onChange={submitting.forget}
          mistakes={mistakes}
          jobWith={jobWith}
        />
        <JobInputs
          draft={job}
          onDraft={(next: JobDraft) => {
            submitting.forget();
            setJob(next);
          }}
          mistakes={mistakes}
          owners={who.value?.owners ?? 'all'}
          isOwnerFree={flow.owner === 'DEFAULT'}
        />
        <SubmitNotes submitting={submitting} own={own} />
        <SubmitButton submitting={submitting} />
      </form>
    </>
  );
}

/** Keeps what is filled in, finds mistakes in it once a submit was tried, and submits it. */
function useJobForm(
  { flow, params, known, again }: Props,
  page: { readonly current: HTMLFormElement | null },
) {
  const isSealed = useMemo(
    () => sealedIn(flowOf(flow.document), known?.tasks ?? []),
    [flow, known],
  );
  const form = useMemo(() => formOf(flow, isSealed), [flow, isSealed]);
  const filledIn = useFillingIn(`job for ${flow.id} ${again ?? ''}`, form, () => ({
    params: firstParams(form, params),
    job: emptyJob(ownerFor(flow), Date.now()),
  }));
  const { filling, job, forget } = filledIn;
  const [isTried, setTried] = useState(false);
  const submitting = useSubmit(forget);
  const found: Mistakes = { ...filling.mistakes, ...mistakesInJob(job) };
  const own = isTried ? found : {};
  const jobWith = (value: unknown) => jobToSubmit(flow.name, value, job, Date.now());
  const submit = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(found).length > 0) return focusFirst(page.current);
    await submitting.submit(jobWith(filling.given), job.idempotencyKey.trim());
    focusFirst(page.current);
  };
  return {
    form,
    filledIn,
    submitting,
    own,
    mistakes: { ...submitting.mistakes, ...own },
    jobWith,
    submit,
  };
}

function Restored({ onAnew }: { readonly onAnew: () => void }) {
  return (
    <p class="box warning">
      What you filled in before is here again.{' '}
      <button type="button" class="quiet" onClick={onAnew}>
        Begin anew
      </button>
    </p>
  );
}

function SubmitButton({ submitting }: { readonly submitting: Submitting }) {
  const { isBusy, warnings, problems } = submitting;
  const isWarned = warnings.length > 0 && problems.length === 0;
  const refused = levelRefusal('operator');
  return (
    <div class="buttons">
      <button class="primary" disabled={isBusy || refused !== undefined} title={refused}>
        {isBusy ? 'Submitting …' : isWarned ? 'Submit nevertheless' : 'Submit'}
      </button>
    </div>
  );
}

type ParametersProps = Pick<Props, 'flow' | 'known'> & {
  readonly form: FlowForm | undefined;
  readonly filling: ParamsInput;
  /** Something was changed: what the server said is about something else. */
  readonly onChange: () => void;
  readonly mistakes: Mistakes;
  readonly jobWith: (params: unknown) => unknown;
};

function Parameters(props: ParametersProps) {
  const { flow, known, form, filling, onChange, mistakes, jobWith } = props;
  const { isJson, given } = filling;
  const changing =
    <T,>(act: (next: T) => void) =>
    (next: T): void => {
      onChange();
      act(next);
    };
  return (
    <>
      <div class="form-head">
        <h2>Parameters</h2>
        {form !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={changing(filling.swap)}
            disabled={isJson && given === undefined}
          >
            {isJson ? 'As a form' : 'As JSON'}
          </button>
        )}
      </div>
      {form !== undefined && form.sealed.length > 0 && (
        <p class="muted">Set by the tasks, and by no job: {form.sealed.join(', ')}.</p>
      )}
      {form !== undefined && !isJson ? (
        <SchemaForm
          field={form.field}
          usuals={form.usuals}
          draft={filling.draft}
          onDraft={changing(filling.setDraft)}
          path="params"
          mistakes={mistakes}
        />
      ) : (
        <ParamsEditor
          flow={flow}
          known={known}
          why={form === undefined ? whyJson(flow) : undefined}
          text={filling.text}
          onText={changing(filling.setText)}
          jobWith={jobWith}
        />
      )}
    </>
  );
}

function About({ flow }: { readonly flow: StoredDefinition }) {
  const description = fieldText(flow.document, 'description');
  const state = stateOf(flow.document);
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      {state === 'disabled' && (
        <p class="box warning">
          The flow is disabled: a job for it fails until it is enabled again.
        </p>
      )}
      {state === 'deprecated' && (
        <p class="box warning">
          The flow is deprecated and takes no new jobs. {insteadOfDeprecated(flow.document)}
        </p>
      )}
      {state === 'paused' && <p class="box notice">The flow is paused: a job for it waits.</p>}
    </>
  );
}

/** A flow of somebody is run for him; one for all is run for whoever asks. */
function ownerFor({ owner, document }: StoredDefinition): string {
  if (owner !== 'DEFAULT') return owner;
  const owners = who.value?.owners ?? 'all';
  return owners === 'all' ? (flowOf(document)?.owner ?? owner) : (owners[0] ?? owner);
}

/** Leads to the first input that something is wrong with, once it is marked. */
function focusFirst(page: HTMLElement | null): void {
  requestAnimationFrame(() => {
    page?.querySelector<HTMLElement>('[aria-invalid="true"], .wrong[data-path], .notes')?.focus();
  });
}
