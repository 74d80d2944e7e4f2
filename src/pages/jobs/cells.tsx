import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { begunAt, type Summary } from '../answers.js';
import { StatusWord } from '../parts/status.js';
import { isNeverDue } from '../parts/never.js';
import { Ago, Took } from '../parts/time.js';
import { keyOfColumn, keyText, type ColumnWord } from './columns.js';

type CellOf = (job: Summary) => ComponentChildren;

/** What each column shows of a job. */
const cells: Readonly<Record<ColumnWord, CellOf>> = {
  status: ({ status, custom_status: custom }) => <StatusWord status={status} custom={custom} />,
  id: ({ id }) => <JobLink id={id} />,
  flow: ({ flow, tags = [] }) => (
    <>
      {flow ?? <span class="muted">own steps</span>}
      {tags.map((tag) => (
        <span key={tag} class="tag">
          {tag}
        </span>
      ))}
    </>
  ),
  now: (job) => <About job={job} />,
  started: (job) => <Ago at={begunAt(job)} />,
  took: (job) => <Took from={begunAt(job)} to={job.end} />,
  owner: ({ owner }) => owner,
  version: ({ flow_version: version }) => version,
  ended: ({ end }) => <Ago at={end} />,
  due: ({ next_due: due }) => <Ago at={due} />,
  attempts: ({ attempts }) => attempts,
  priority: ({ priority }) => priority,
  exit: ({ exit }) => exit,
  queue: ({ queue }) => queue,
  target: ({ target }) => target,
  external_id: ({ external_id: id }) => id,
  parent: ({ parent }) => parent !== undefined && <JobLink id={parent} />,
};

/** What a column shows of a job; what does not fit is told when the mouse is over it. */
export function Cell({ word, job }: { readonly word: string; readonly job: Summary }) {
  const key = keyOfColumn(word);
  const content = key === undefined ? cells[word as ColumnWord](job) : keyText(job, key);
  return (
    <span
      role="gridcell"
      class="cell"
      data-column={word}
      title={typeof content === 'string' ? content : word === 'flow' ? job.flow : undefined}
    >
      {content}
    </span>
  );
}

function JobLink({ id }: { readonly id: string }) {
  return (
    <Link href={`/jobs/${encodeURIComponent(id)}`} title={id} class="mono">
      {slotOf(id) ?? id}
    </Link>
  );
}

/** Jobs of a schedule differ in the end of their ids, which would be cut off: `morning, 2026-11-27T02:00:00Z`. */
function slotOf(id: string): string | undefined {
  const [, name, slot] = /^schedule-run:[^:]*:([^:]+):(\d{4}-\S+)$/.exec(id) ?? [];
  return slot === undefined ? undefined : `${name} ${slot}`;
}

/** What it does now, or why it failed. */
function About({
  job: { failure, current = [], status, next_due: due },
}: {
  readonly job: Summary;
}) {
  if (failure !== undefined && status === 'failed') {
    return (
      <span title={`${failure.name}: ${failure.message}`}>
        <strong>{failure.name}</strong> {failure.message}
      </span>
    );
  }
  if (current.length > 0) return <span title={current.join(', ')}>{current.join(', ')}</span>;
  const waits = status === 'waiting' || status === 'scheduled';
  return waits && due !== undefined && !isNeverDue(due) ? (
    <span class="muted">
      due <Ago at={due} />
    </span>
  ) : null;
}
