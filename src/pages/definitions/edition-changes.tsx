import { Link } from 'wouter-preact';
import type { AnyDocument } from '../answers.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { who } from '../session/session.js';
import { ChangeList } from './change-list.js';
import { editionOf } from './edition.js';
import { useDefinitionLists } from './known.js';
import { pageOf, type DefinitionLists } from './stored.js';

/** What has changed in the definitions of a job since it began, compared with what is stored now. */
export function ChangedDefinitions({ job }: { readonly job: AnyDocument }) {
  const { value, error, reload } = useDefinitionLists();
  if (value !== undefined) return <EditionChanges job={job} stored={value} />;
  return error === undefined ? (
    <Loading what="the definitions" />
  ) : (
    <ProblemBox error={error} again={reload} />
  );
}

type Props = { readonly job: AnyDocument; readonly stored: DefinitionLists };

/** The same, where what is stored is known. */
export function EditionChanges({ job, stored }: Props) {
  const edition = editionOf(job, stored);
  const hasEnded = typeof job['end'] === 'number';
  if (edition === undefined) {
    return (
      <p class="muted">
        {hasEnded
          ? 'The job ended before it began.'
          : 'The job has not begun: it will run what is stored then.'}
      </p>
    );
  }
  const { changed, gone } = edition;
  if (changed.length === 0 && gone.length === 0) {
    return <p class="muted">The job {hasEnded ? 'ran' : 'runs'} what is stored now.</p>;
  }
  const seesAll = who.value?.owners === 'all';
  return (
    <>
      {gone.length > 0 && (
        <p>
          {seesAll ? 'Not stored any more' : 'Not stored any more, or not visible to you'}:{' '}
          {gone.join(', ')}.
        </p>
      )}
      {changed.map(({ definition: { id, name, document }, changes }) => (
        <section key={id}>
          <h3>
            <Link href={pageOf(document['type'] === 'flow' ? 'flow' : 'task', id)}>{name}</Link> has
            changed since the job began
          </h3>
          <ChangeList changes={changes} />
        </section>
      ))}
    </>
  );
}
