import { useMemo, useRef, useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { get } from '../api.js';
import type { StoredJob } from '../answers.js';
import '../definitions/definitions.css';
import { useKnown, type Known } from '../definitions/known.js';
import { pageOf, pathOf, stateOf, textIn, type Stored } from '../definitions/stored.js';
import { flowOf } from '../definitions/uses.js';
import { isRecord } from '../editor/schema-at.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { refusalOf, who } from '../session/session.js';
import { fieldOf, type GroupField } from './fields.js';
import { emptyJob, jobOf, mistakesInJob, type JobDraft } from './job-draft.js';
import { JobInputs } from './job-inputs.js';
import { draftOf, valueOf, type Draft } from './drafts.js';
import { mistakesOf, type Mistakes } from './mistakes.js';
import { ParamsEditor } from './params-editor.js';
import { SchemaForm } from './schema-form.js';
import { SubmitNotes } from './submit-notes.js';
import { useSubmit } from './use-submit.js';

/** The page that submits a job for a flow: `flow` is its id, its name, or `name::owner`. */
export function Submit({ flow: called }: { readonly flow: string }) {
  const again = new URLSearchParams(useSearch()).get('again');
  const known = useKnown();
  const { value, error, reload } = useLoaded(`submit ${called} ${again ?? ''}`, async (signal) => {
    const [flow, job] = await Promise.all([
      get<Stored>(pathOf('flow', called), { signal }),
      again === null ? undefined : get<StoredJob>(`jobs/${encodeURIComponent(again)}`, { signal }),
    ]);
    return { flow, params: job?.document['params'] };
  });
  if (value === undefined) {
    return error === undefined ? (
      <Loading what="the flow" />
    ) : (
      <ProblemBox error={error} again={reload} />
    );
  }
  return <SubmitPage flow={value.flow} params={value.params} known={known.value} />;
}

type Props = {
  readonly flow: Stored;
  /** Parameters to begin with, of an earlier job. */
  readonly params: unknown;
  readonly known: Known | undefined;
};

function SubmitPage({ flow, params, known }: Props) {
  const form = useMemo(() => formOf(flow), [flow]);
  const [asJson, setAsJson] = useState(form === undefined);
  const [draft, setDraft] = useState<Draft>(() => form && draftOf(form.field, params));
  const [text, setText] = useState(() => JSON.stringify(params ?? {}, null, 2));
  const [job, setJob] = useState(() => emptyJob(ownerFor(flow), Date.now()));
  const [isTried, setTried] = useState(false);
  const page = useRef<HTMLFormElement>(null);
  const submitting = useSubmit();
  const given = asJson ? parsed(text) : form && valueOf(form.field, draft);
  const own: Mistakes = {
    ...(asJson || form === undefined ? jsonMistake(text) : mistakesOf(form.field, draft, 'params')),
    ...mistakesInJob(job),
  };
  const mistakes = { ...submitting.mistakes, ...(isTried ? own : {}) };
  const change = (act: () => void): void => {
    submitting.forget();
    act();
  };
  const submit = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(own).length > 0) return focusFirst(page.current);
    await submitting.submit(jobOf(flow.name, given, job, Date.now()), job.idempotencyKey.trim());
    focusFirst(page.current);
  };
  const isWarned = submitting.warnings.length > 0 && submitting.problems.length === 0;
  const refused = refusalOf('operator');
  return (
    <>
      <PageHead title={`Submit ${flow.name}`}>
        <Link class="button" href={pageOf('flow', flow.id)}>
          The flow
        </Link>
      </PageHead>
      <About flow={flow} />
      <form
        ref={page}
        class="box submit"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="form-head">
          <h2>Parameters</h2>
          {form !== undefined && (
            <button
              type="button"
              class="quiet"
              onClick={() =>
                change(() => {
                  if (!asJson) setText(JSON.stringify(given ?? {}, null, 2));
                  else setDraft(draftOf(form.field, parsed(text)));
                  setAsJson(!asJson);
                })
              }
              disabled={asJson && parsed(text) === undefined}
            >
              {asJson ? 'As a form' : 'As JSON'}
            </button>
          )}
        </div>
        {form !== undefined && !asJson ? (
          <SchemaForm
            field={form.field}
            usuals={form.usuals}
            draft={draft}
            onDraft={(next) => change(() => setDraft(next))}
            path="params"
            mistakes={mistakes}
          />
        ) : (
          <ParamsEditor
            flow={flow}
            known={known}
            why={form === undefined ? whyJson(flow) : undefined}
            text={text}
            onText={(next) => change(() => setText(next))}
            jobWith={(value) => jobOf(flow.name, value, job, Date.now())}
          />
        )}
        <JobInputs
          draft={job}
          onDraft={(next: JobDraft) => change(() => setJob(next))}
          mistakes={mistakes}
          owners={who.value?.owners ?? 'all'}
          isOwnerFree={flow.owner === 'DEFAULT'}
        />
        <SubmitNotes submitting={submitting} own={isTried ? own : {}} />
        <div class="buttons">
          <button
            class="primary"
            disabled={submitting.isBusy || refused !== undefined}
            title={refused}
          >
            {submitting.isBusy ? 'Submitting …' : isWarned ? 'Submit nevertheless' : 'Submit'}
          </button>
        </div>
      </form>
    </>
  );
}

function About({ flow }: { readonly flow: Stored }) {
  const description = textIn(flow.document, 'description');
  const state = stateOf(flow.document);
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      {state === 'disabled' && (
        <p class="box warning">
          The flow is disabled: a job for it fails until it is enabled again.
        </p>
      )}
      {state === 'paused' && <p class="box notice">The flow is paused: a job for it waits.</p>}
    </>
  );
}

type Form = { readonly field: GroupField; readonly usuals: Readonly<Record<string, unknown>> };

/** The form of the flow's schema, where it has one that can be a form; what the flow gives need not be filled in. */
function formOf({ document }: Stored): Form | undefined {
  const { schema, params } = document;
  if (!isRecord(schema)) return undefined;
  const field = fieldOf(schema, 'parameters');
  if (field.kind !== 'group') return undefined;
  const usuals = Object.entries(isRecord(params) ? params : {}).filter(([key]) =>
    Object.hasOwn(field.fields, key),
  );
  const given = new Set(usuals.map(([key]) => key));
  const fields = Object.entries(field.fields).map(([key, inner]) => {
    if (!given.has(key)) return [key, inner] as const;
    const { initial: _initial, ...rest } = inner;
    return [key, { ...rest, required: false }] as const;
  });
  return {
    field: { ...field, fields: Object.fromEntries(fields) },
    usuals: Object.fromEntries(usuals),
  };
}

function whyJson({ document }: Stored): string {
  const { schema } = document;
  if (!isRecord(schema)) return 'The flow has no "schema" that a form could be made of.';
  const field = fieldOf(schema, 'parameters');
  const why = field.kind === 'json' ? field.why : 'what it begins with';
  return `No form can show this schema (${why}).`;
}

/** A flow of somebody is run for him; one for all is run for whoever asks. */
function ownerFor({ owner, document }: Stored): string {
  if (owner !== 'DEFAULT') return owner;
  const owners = who.value?.owners ?? 'all';
  return owners === 'all' ? (flowOf(document)?.owner ?? owner) : (owners[0] ?? owner);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function jsonMistake(text: string): Mistakes {
  return isRecord(parsed(text)) ? {} : { params: 'The parameters must be a JSON object: {…}.' };
}

/** Leads to the first input that something is wrong with, once it is marked. */
function focusFirst(page: HTMLElement | null): void {
  requestAnimationFrame(() => {
    page?.querySelector<HTMLElement>('[aria-invalid="true"], .wrong[data-path], .notes')?.focus();
  });
}
