import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { versionName, type FlowVersion, type FlowVersions } from '../../model/flow-versions.js';
import { unfinishedStatuses } from '../../model/status.js';
import { get, send } from '../api.js';
import type { FlowDifferencesAnswer } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { searchParamsOf } from '../jobs/filter.js';
import { LevelButton } from '../parts/level-button.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import { say } from '../parts/toasts.js';
import { ChangeList } from './change-list.js';
import { definitionPath, pageOf, type StoredDefinition } from './stored.js';

type Props = {
  readonly flow: StoredDefinition;
  /** The flow was made current, or is so no more. */
  readonly onSwitched: () => void;
};

/** The versions of a flow, where there are several: which is current, since when, and how many jobs run each. */
export function FlowVersionsBox({ flow, onSwitched }: Props) {
  const path = `${definitionPath('flow', flow.id)}/versions`;
  const { value, error, reload } = useLoaded(`versions of ${flow.id} ${flow.rev}`, (signal) =>
    get<FlowVersions>(path, { signal }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined || value.versions.length < 2) return null;
  const { versions, problem, partly } = value;
  const onChanged = (): void => {
    reload();
    onSwitched();
  };
  return (
    <section class="box" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      {problem !== undefined && <p class="box warning">{problem}</p>}
      <ul class="versions">
        {versions.map((one) => (
          <VersionRow key={one.id} flow={flow} one={one} onChanged={onChanged} />
        ))}
      </ul>
      {partly && <p class="muted">Not all jobs were counted: there are more.</p>}
      <RollbackButton flow={flow} onChanged={onChanged} />
      <Comparison flow={flow} versions={versions} />
    </section>
  );
}

type RowProps = {
  readonly flow: StoredDefinition;
  readonly one: FlowVersion;
  readonly onChanged: () => void;
};

function VersionRow({ flow, one, onChanged }: RowProps) {
  const { id, patch, current, since, by, jobs } = one;
  const isShown = id === flow.id;
  return (
    <li aria-current={isShown ? 'true' : undefined}>
      <span>
        {isShown ? <b>{nameOf(one)}</b> : <Link href={pageOf('flow', id)}>{nameOf(one)}</Link>}
        {patch !== undefined && ` (patch ${patch})`}
        {current && <span class="tag">current</span>}
      </span>
      <span class="muted">
        {since !== undefined && (
          <>
            {current ? 'since ' : 'was current '}
            <Ago at={since} />
            {by !== undefined && ` by ${by}`}
            {', '}
          </>
        )}
        <JobsOf flow={flow} version={one.version} jobs={jobs} />
      </span>
      {!current && (
        <LevelButton
          level="operator"
          onClick={() => void makeCurrent(flow, 'use', { version: id }).then(onChanged)}
        >
          Use {nameOf(one)}
        </LevelButton>
      )}
    </li>
  );
}

type JobsProps = {
  readonly flow: StoredDefinition;
  readonly version: string | undefined;
  readonly jobs: number | undefined;
};

/** How many jobs run a version, and the list of them. */
function JobsOf({ flow: { name }, version, jobs }: JobsProps) {
  if (jobs === undefined) return null;
  const text = jobs === 1 ? '1 job runs it' : `${jobs} jobs run it`;
  if (jobs === 0 || version === undefined) return <>{text}</>;
  const filter = { status: unfinishedStatuses, flow: name, version };
  return <Link href={`/jobs?${searchParamsOf(filter).toString()}`}>{text}</Link>;
}

function nameOf({ version }: FlowVersion): string {
  return version === undefined ? 'without a version' : `version ${version}`;
}

type Made = { readonly version?: string };

async function makeCurrent(
  flow: StoredDefinition,
  word: 'use' | 'rollback',
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    const made = await send<Made>('POST', `${definitionPath('flow', flow.id)}/${word}`, body);
    say(`New jobs of ${flow.name} get the flow ${versionName(made.version)}.`);
  } catch (error) {
    say((error as Error).message, 'problem');
  }
}

function RollbackButton({ flow, onChanged }: Omit<RowProps, 'one'>) {
  return (
    <div class="buttons">
      <LevelButton
        level="operator"
        onClick={() => void makeCurrent(flow, 'rollback', {}).then(onChanged)}
      >
        Roll back to the one before
      </LevelButton>
    </div>
  );
}

type ComparisonProps = {
  readonly flow: StoredDefinition;
  readonly versions: readonly FlowVersion[];
};

/** Where two versions differ; at first the one that is looked at and the current one. */
function Comparison({ flow, versions }: ComparisonProps) {
  const current = versions.find((one) => one.current) ?? versions[0];
  const other = versions.find(({ id }) => id !== current?.id);
  const [from, setFrom] = useState(flow.id === current?.id ? (other?.id ?? '') : flow.id);
  const [to, setTo] = useState(current?.id ?? '');
  const [open, setOpen] = useState(false);
  const choice = (label: string, value: string, set: (id: string) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {versions.map((one) => (
          <option key={one.id} value={one.id}>
            {nameOf(one)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Compare two versions</summary>
      <div class="buttons">
        {choice('From', from, setFrom)}
        {choice('to', to, setTo)}
      </div>
      {open && <Differences key={`${from} ${to}`} flow={flow} from={from} to={to} />}
    </details>
  );
}

type DifferencesProps = {
  readonly flow: StoredDefinition;
  readonly from: string;
  readonly to: string;
};

function Differences({ flow, from, to }: DifferencesProps) {
  const path = `${definitionPath('flow', flow.id)}/diff`;
  const { value, error, reload } = useLoaded(`difference ${from} ${to} ${flow.rev}`, (signal) =>
    get<FlowDifferencesAnswer>(path, { query: { from, to }, signal }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined) return <Loading what="the differences" />;
  if (value.differences.length === 0) return <p class="muted">They do not differ.</p>;
  const changes = value.differences.map((one) => ({
    path: one.path,
    before: one.from,
    after: one.to,
  }));
  return <ChangeList changes={changes} />;
}
