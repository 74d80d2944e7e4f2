import { tagsOf } from '../../model/tags.js';
import { useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { get, send } from '../api.js';
import type { JobList } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import { mayOperate } from '../session/session.js';
import './definitions.css';
import { DefinitionList, type Column } from './definition-list.js';
import { NewDefinition } from './new-definition.js';
import { definitionPath, stateOf, type StoredDefinition } from './stored.js';
import { flowOf, tasksOf } from './uses.js';

/** The page of all flows; with `?new` or `?copy=ID` that of a new one. */
export function FlowsPage() {
  const asked = new URLSearchParams(useSearch());
  if (asked.has('new') || asked.has('copy')) {
    return <NewDefinition kind="flow" copyOf={asked.get('copy') ?? undefined} />;
  }
  return <FlowList />;
}

/** What jobs that count as "in hand" are looked at: more are told as such. */
const mostJobs = 500;

function FlowList() {
  const { value, error, reload } = useLoaded('flows', (signal) =>
    get<{ readonly flows: readonly StoredDefinition[] }>('flows', { signal }),
  );
  const running = useLoaded('running jobs', (signal) =>
    get<JobList>('jobs', { query: { status: ['running', 'waiting'], limit: mostJobs }, signal }),
  );
  const [state, setState] = useState('');
  const columns: readonly Column[] = [
    { title: 'State', cell: ({ document }) => <StateWord state={stateOf(document)} /> },
    { title: 'Steps', cell: stepsText },
    {
      title: 'Running',
      isNumber: true,
      cell: (one) => <Running flow={one} jobs={running.value} />,
    },
    { title: 'Actions', cell: (one) => <Actions flow={one} onDone={reload} /> },
  ];
  return (
    <DefinitionList
      kind="flow"
      all={value?.flows}
      error={error}
      reload={reload}
      columns={columns}
      words={({ document }) => [...stepNames(document), ...tagsOf(document)]}
      isShown={({ document }) =>
        state === '' ? stateOf(document) !== 'deprecated' : stateOf(document) === state
      }
      filters={
        <label>
          State
          <select value={state} onChange={({ currentTarget }) => setState(currentTarget.value)}>
            <option value="">All but deprecated</option>
            <option value="enabled">Enabled</option>
            <option value="paused">Paused</option>
            <option value="disabled">Disabled</option>
            <option value="deprecated">Deprecated</option>
          </select>
        </label>
      }
    />
  );
}

/** The tasks of documents that were read once: a list asks for them at each key that is pressed. */
const namesKnown = new WeakMap<StoredDefinition['document'], readonly string[]>();

function stepNames(document: StoredDefinition['document']): readonly string[] {
  const known = namesKnown.get(document);
  if (known !== undefined) return known;
  const flow = flowOf(document);
  const names = flow === undefined ? [] : tasksOf(flow);
  namesKnown.set(document, names);
  return names;
}

/** So many names of tasks are shown of a flow. */
const mostNames = 4;

function stepsText({ document }: StoredDefinition): string {
  const names = stepNames(document);
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown}, …` : shown;
}

/** Whether a flow takes jobs. */
export function StateWord({ state }: { readonly state: ReturnType<typeof stateOf> }) {
  const tone = {
    ...{ enabled: 'succeeded', paused: 'paused' },
    ...{ disabled: 'cancelled', deprecated: 'cancelled' },
  }[state];
  return <span class={`status ${tone}`}>{state}</span>;
}

function Running({
  flow,
  jobs,
}: {
  readonly flow: StoredDefinition;
  readonly jobs: JobList | undefined;
}) {
  if (jobs === undefined) return <span class="muted">…</span>;
  const own = jobs.jobs.filter((job) => job.flow === flow.name).length;
  const text = jobs.cursor === undefined ? String(own) : `${own}+`;
  if (own === 0) return <span class="muted">{text}</span>;
  const query = new URLSearchParams({ flow: flow.name, status: 'running,waiting' });
  return (
    <Link href={`/jobs?${query.toString()}`} aria-label={`${text} jobs of ${flow.name} in hand`}>
      {text}
    </Link>
  );
}

function Actions({
  flow,
  onDone,
}: {
  readonly flow: StoredDefinition;
  readonly onDone: () => void;
}) {
  const isEnabled = stateOf(flow.document) !== 'disabled';
  return (
    <span class="buttons">
      {mayOperate.value && stateOf(flow.document) !== 'deprecated' && (
        <Link class="button" href={`/submit/${encodeURIComponent(flow.id)}`}>
          Submit<span class="unseen"> a job for {flow.name}</span>
        </Link>
      )}
      <LevelButton level="operator" onClick={() => void switchFlow(flow, !isEnabled).then(onDone)}>
        {isEnabled ? 'Disable' : 'Enable'}
        <span class="unseen"> {flow.name}</span>
      </LevelButton>
    </span>
  );
}

/** Enables or disables a flow, and says so. */
export async function switchFlow(flow: StoredDefinition, isEnabled: boolean): Promise<void> {
  const word = isEnabled ? 'enable' : 'disable';
  try {
    await send('POST', `${definitionPath('flow', flow.id)}/${word}`);
    say(`Flow ${flow.name} is ${word}d now.`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), 'problem');
  }
}
