import { tagsOf } from '../../model/tags.js';
import { useMemo, useState } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import './definitions.css';
import { DefinitionList, type Column } from './definition-list.js';
import { useKnown } from './known.js';
import { NewDefinition } from './new-definition.js';
import { fieldText, type StoredDefinition } from './stored.js';
import { usesOfTasks } from './uses.js';

/** The page of all tasks; with `?new` or `?copy=ID` that of a new one. */
export function TasksPage() {
  const asked = new URLSearchParams(useSearch());
  if (asked.has('new') || asked.has('copy')) {
    return <NewDefinition kind="task" copyOf={asked.get('copy') ?? undefined} />;
  }
  return <TaskList />;
}

function TaskList() {
  const { value, error, reload } = useKnown();
  const [plugin, setPlugin] = useState('');
  const { tasks = [], engines } = value ?? {};
  const uses = useMemo(() => value && usesOfTasks(value), [value]);
  const plugins = [...new Set(tasks.map(doesOf))].sort();
  const there = new Set(engines?.flatMap((engine) => (engine.alive ? engine.plugins : [])));
  const columns: readonly Column[] = [
    {
      title: 'Does',
      cell: (one) => (
        <>
          <code>{doesOf(one)}</code>
          {isMissing(one, there) && <span class="status failed">no engine has it</span>}
        </>
      ),
    },
    {
      title: 'Used by',
      cell: (one) => {
        const names = (uses?.get(one.id) ?? []).map(({ by }) => by.name);
        if (names.length === 0) return <span class="muted">nothing</span>;
        return names.length > 3
          ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
          : names.join(', ');
      },
    },
  ];
  return (
    <DefinitionList
      kind="task"
      all={value?.tasks}
      error={error}
      reload={reload}
      columns={columns}
      words={(one) => [doesOf(one), ...tagsOf(one.document)]}
      isShown={(one) => plugin === '' || doesOf(one) === plugin}
      filters={
        plugins.length > 1 && (
          <label>
            Plugin
            <select value={plugin} onChange={({ currentTarget }) => setPlugin(currentTarget.value)}>
              <option value="">All</option>
              {plugins.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )
      }
    />
  );
}

/** The plugin that does the work of a task, or the flow that it runs. */
export function doesOf({ name, document }: Pick<StoredDefinition, 'name' | 'document'>): string {
  const flow = fieldText(document, 'flow');
  return flow === undefined ? (fieldText(document, 'plugin') ?? name) : `flow ${flow}`;
}

/** Whether engines live and none of them has the plugin. */
export function isMissing(
  task: Pick<StoredDefinition, 'name' | 'document'>,
  there: ReadonlySet<string>,
): boolean {
  const isFlow = fieldText(task.document, 'flow') !== undefined;
  return !isFlow && there.size > 0 && !there.has(doesOf(task));
}
