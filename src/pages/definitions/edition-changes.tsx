import { Link } from 'wouter-preact';
import type { AnyDocument } from '../answers.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { ChangeList } from './change-list.js';
import { editionOf } from './edition.js';
import { useKnown } from './known.js';
import { pageOf } from './stored.js';

/** What was changed in the definitions of a job since it began, down to the keys. */
export function EditionChanges({ job }: { readonly job: AnyDocument }) {
  const { value: known, error, reload } = useKnown();
  if (known === undefined)
    return error === undefined ? (
      <Loading what="the definitions" />
    ) : (
      <ProblemBox error={error} again={reload} />
    );
  const edition = editionOf(job, known);
  if (edition === undefined)
    return <p class="muted">The job has not begun: it will run what is stored then.</p>;
  const { changed, gone } = edition;
  if (changed.length === 0 && gone.length === 0)
    return <p class="muted">The job runs what is stored now.</p>;
  return (
    <>
      {gone.length > 0 && <p>Not stored any more: {gone.join(', ')}.</p>}
      {changed.map(({ definition: { id, name, document }, changes }) => (
        <section key={id}>
          <h3>
            <Link href={pageOf(document['type'] === 'flow' ? 'flow' : 'task', id)}>{name}</Link> was
            changed since
          </h3>
          <ChangeList changes={changes} />
        </section>
      ))}
    </>
  );
}
