import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { counted } from '../../words.js';
import type { AnyDocument } from '../answers.js';
import { get, send } from '../api.js';
import '../definitions/definitions.css';
import { useLoaded } from '../live/use-loaded.js';
import { AskDialog } from '../parts/ask.js';
import { Fact } from '../parts/fact.js';
import { JsonView } from '../parts/json.js';
import { LevelButton } from '../parts/level-button.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { StatusWord } from '../parts/status.js';
import { Ago } from '../parts/time.js';
import { say } from '../parts/toasts.js';
import { archivedPath, type ArchivedWhole } from './answers.js';

/** The page of one archived job. */
export function ArchivedJobPage({ id }: { readonly id: string }) {
  const { value, error, reload } = useLoaded(`archived ${id}`, (signal) =>
    get<ArchivedWhole>(archivedPath(id), { signal }),
  );
  return (
    <>
      <PageHead title={id}>
        <span class="muted">archived</span>
        {value !== undefined && <Restore of={value} />}
      </PageHead>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading what="the archived job" />}
      {value !== undefined && <Whole of={value} />}
      <p>
        <Link href="/archive">All archived jobs</Link>
      </p>
    </>
  );
}

type Props = { readonly of: ArchivedWhole };

function Whole({ of: { flow, owner, status, end, at, archive, docs } }: Props) {
  const [job, ...rest] = docs;
  return (
    <>
      <dl class="facts">
        <Fact name="Status" value={<StatusWord status={status} />} />
        <Fact name="Flow" value={flow === '' ? 'steps of its own' : flow} />
        <Fact name="Owner" value={owner} />
        <Fact name="Ended" value={<Ago at={end} />} />
        <Fact name="Archived" value={<Ago at={at} />} />
        <Fact name="Archive" value={archive} />
      </dl>
      <section class="box">
        <h2>Document</h2>
        <JsonView value={job} what="the document" />
      </section>
      {rest.length > 0 && (
        <section class="box">
          <h2>Archived with it</h2>
          {rest.map((doc) => (
            <OtherDocument key={String(doc['_id'])} doc={doc} />
          ))}
        </section>
      )}
    </>
  );
}

/** Its text is made when it is looked at: there may be thousands of them. */
function OtherDocument({ doc }: { readonly doc: AnyDocument }) {
  const [isOpen, setOpen] = useState(false);
  const id = String(doc['_id']);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {id} <span class="muted">{String(doc['type'])}</span>
      </summary>
      {isOpen && <JsonView value={doc} what={`the document ${id}`} />}
    </details>
  );
}

function Restore({ of: { job, documents } }: Props) {
  const [asks, setAsks] = useState(false);
  const [, navigate] = useLocation();
  return (
    <span class="buttons">
      <LevelButton level="operator" onClick={() => setAsks(true)}>
        Restore …
      </LevelButton>
      {asks && (
        <AskDialog
          title={`Restore the job ${job}?`}
          does="Restore it"
          onClose={() => setAsks(false)}
          act={async () => {
            const { stored } = await send<{ readonly stored: readonly string[] }>(
              'POST',
              `${archivedPath(job)}/restore`,
            );
            say(stored.length === 0 ? 'It is back already.' : 'The job is back.');
            navigate(`/jobs/${encodeURIComponent(job)}`);
          }}
        >
          <p>
            Puts {counted(documents, 'document')} back into the database: the job, its child jobs
            and notifications. Nothing runs again, and the copy in the archive stays. Retention
            keeps the job as long as if it had ended now.
          </p>
        </AskDialog>
      )}
    </span>
  );
}
