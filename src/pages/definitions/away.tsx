import { Link } from 'wouter-preact';
import { ApiProblem } from '../api.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { kindName, kindPath, type StoredKind } from './stored.js';

type Props = {
  readonly kind: StoredKind;
  /** What the address calls it. */
  readonly name: string;
  readonly error: unknown;
  readonly again: () => void;
};

/** Why a task, flow or schedule cannot be shown, with the way to the others where there is none of that name. */
export function DefinitionAway({ kind, name, error, again }: Props) {
  const isGone = error instanceof ApiProblem && error.status === 404;
  if (!isGone) return <ProblemBox error={error} again={again} />;
  return (
    <>
      <PageHead title={`No such ${kindName(kind)}`} />
      <p>
        There is no {kindName(kind)} <code>{name}</code>, or it belongs to an owner whose{' '}
        {kindName(kind)}s you may not see.{' '}
        <Link href={`/${kindPath(kind)}`}>All {kindName(kind)}s</Link>
      </p>
    </>
  );
}
