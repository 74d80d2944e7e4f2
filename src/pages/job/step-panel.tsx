import { Fact } from '../parts/fact.js';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { PictureNode } from '../../picture/picture.js';
import { get } from '../api.js';
import { JsonView } from '../parts/json.js';
import { ProblemBox } from '../parts/problem-box.js';
import { StepWord } from '../parts/status.js';
import { Ago, exact, Moment, Took } from '../parts/time.js';
import { isObject } from '../../model/object.js';
import { isAt, type StoredAttempt } from './attempts.js';
import { AskedOfPeople } from './asked-of-people.js';
import { ItemSteps } from './item-steps.js';
import { LogLines } from './log.js';
import { StepProgress } from './step-progress.js';
import type { OutlineNode } from './outline.js';

type Props = {
  readonly job: string;
  readonly attempts: readonly StoredAttempt[];
  /** Path of a node of the picture, or of an attempt. */
  readonly path: string;
  readonly node: PictureNode | undefined;
  readonly nodes: readonly OutlineNode[];
  readonly onSelect: (path: string) => void;
};

/** Attempts of one node that are shown at once. */
const mostShown = 20;

/** All about one step: its attempts, the last one first. */
export function StepPanel({ job, attempts, path, node, nodes, onSelect }: Props) {
  const own = attempts.filter((one) => isAt(one.path, path)).toReversed();
  const [last] = own;
  const title = node?.label ?? last?.name ?? path;
  return (
    <section class="box step-panel" aria-label={`Step ${title}`} data-path={path}>
      <h2>
        {title} <small class="muted mono">{path}</small>
      </h2>
      {node?.detail !== undefined && <p class="muted">{node.detail}</p>}
      <ItemSteps path={path} nodes={nodes} onSelect={onSelect} />
      {node?.failure !== undefined && last?.failure === undefined && <p>{node.failure}</p>}
      {own.length === 0 && <p class="muted">{withoutAttempts(node?.state)}</p>}
      {own.slice(0, mostShown).map((one, i) => (
        <AttemptOf key={one.place} job={job} attempt={one} isFirst={i === 0} />
      ))}
      {own.length > mostShown && (
        <p class="muted">
          and {own.length - mostShown} earlier attempts, which are in the table of steps.
        </p>
      )}
    </section>
  );
}

/** Why a node has no attempts, in a sentence. */
function withoutAttempts(state: PictureNode['state']): string {
  if (state === undefined || state === 'pending') return 'It has not begun.';
  if (state === 'unreached') return 'The job did not come to it.';
  return `It is ${state}; what is in it has attempts of its own.`;
}

type AttemptProps = {
  readonly job: string;
  readonly attempt: StoredAttempt;
  readonly isFirst: boolean;
};

function AttemptOf({ job, attempt: one, isFirst }: AttemptProps) {
  const { attempt, state, start, end, accepted, failure, warning, log } = one;
  return (
    <details class="attempt" open={isFirst}>
      <summary>
        <StepWord state={state} /> attempt {attempt}{' '}
        <span class="muted">
          · <Took from={start ?? accepted} to={end} /> · <Ago at={start ?? accepted ?? end} />
        </span>
      </summary>
      {failure !== undefined && (
        <div class="failure">
          <strong>{failure.name}</strong>
          {failure.code !== undefined && <code> {failure.code}</code>}
          <p class="message">{failure.message}</p>
        </div>
      )}
      {warning !== undefined && <p class="box warning">{warning}</p>}
      {one.open && one.form === undefined && <Waiting attempt={one} />}
      {one.form !== undefined && <AskedOfPeople form={one.form} />}
      <AttemptFacts attempt={one} />
      <Part name="Parameters" value={one.params} open={isFirst && failure !== undefined} />
      {one.form?.answered === undefined && <Result job={job} attempt={one} open={isFirst} />}
      <Part name="Details for the next attempt" value={one.details} open={false} />
      {log.length > 0 && (
        <details open={isFirst}>
          <summary>Log ({log.length})</summary>
          <LogLines lines={log.map((line) => ({ ...line, from: undefined }))} />
        </details>
      )}
    </details>
  );
}

/** Where and when an attempt ran, and how it ended. */
function AttemptFacts({ attempt: one }: Pick<AttemptProps, 'attempt'>) {
  const { path, start, end, accepted, engine, child } = one;
  return (
    <dl class="facts">
      {path !== '' && <Fact name="Path" value={<code>{path}</code>} />}
      {one.task !== '' && one.task !== one.name && <Fact name="Task" value={one.task} />}
      {engine !== undefined && <Fact name="Engine" value={<code>{engine}</code>} />}
      {accepted !== undefined && <Fact name="Claimed" value={<Moment at={accepted} />} />}
      {start !== undefined && <Fact name="Began" value={<Moment at={start} />} />}
      {end !== undefined && <Fact name="Ended" value={<Moment at={end} />} />}
      {one.exit !== undefined && <Fact name="Exit" value={String(one.exit)} />}
      {one.due !== undefined && <Fact name="Next attempt" value={<Ago at={one.due} />} />}
      {child !== undefined && (
        <Fact
          name="Child job"
          value={<Link href={`/jobs/${encodeURIComponent(child)}`}>{child}</Link>}
        />
      )}
    </dl>
  );
}

/** For what an attempt waits, or how far it says it is. */
function Waiting({
  attempt: { signal, event, key, since, start, accepted, until, progress },
}: {
  readonly attempt: StoredAttempt;
}) {
  return (
    <>
      {signal !== undefined && (
        <p>
          Waits for signal <strong>{signal}</strong> since <Ago at={since ?? start ?? accepted} />
          {until !== undefined && ` until ${exact(until)}`}.
        </p>
      )}
      {event !== undefined && (
        <p>
          Waits for event <strong>{event}</strong>
          {key !== undefined && ` of "${key}"`} since <Ago at={since ?? start ?? accepted} />.
        </p>
      )}
      <StepProgress value={progress} />
    </>
  );
}

type PartProps = { readonly name: string; readonly value: unknown; readonly open: boolean };

function Part({ name, value, open }: PartProps) {
  if (value === undefined) return null;
  return (
    <details open={open}>
      <summary>{name}</summary>
      <JsonView value={value} what={name.toLowerCase()} />
    </details>
  );
}

type ResultProps = {
  readonly job: string;
  readonly attempt: StoredAttempt;
  readonly open: boolean;
};

/** The result; one that is too large to stand in the job is read when it is asked for. */
function Result({ job, attempt: { result, path, name }, open }: ResultProps) {
  const [whole, setWhole] = useState<{ readonly value?: unknown; readonly error?: unknown }>();
  const isElsewhere = isObject(result) && typeof result['$attachment'] === 'string';
  if (!isElsewhere) return <Part name="Result" value={result} open={open} />;
  const read = async (): Promise<void> => {
    const at = `jobs/${encodeURIComponent(job)}/results/${encodeURIComponent(path)}`;
    try {
      setWhole({ value: (await get<{ readonly result: unknown }>(at)).result });
    } catch (error) {
      setWhole({ error });
    }
  };
  if (whole?.error !== undefined)
    return <ProblemBox error={whole.error} again={() => void read()} />;
  if (whole !== undefined) return <Part name="Result" value={whole.value} open />;
  const bytes = isObject(result) ? Number(result['bytes']) : 0;
  return (
    <p>
      The result of {name} has {Math.ceil(bytes / 1024).toLocaleString()} KB.{' '}
      <button type="button" onClick={() => void read()}>
        Show it
      </button>
    </p>
  );
}
