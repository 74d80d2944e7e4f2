import { addTo } from '../../model/grouped.js';
import { Link } from 'wouter-preact';
import { get } from '../api.js';
import type { AnyDocument, EngineAnswer } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';

type Tasks = {
  readonly tasks: readonly { readonly name: string; readonly document: AnyDocument }[];
};

/** Plugins that tasks need and no living engine has: their steps wait. */
export function Missing({ engines }: { readonly engines: readonly EngineAnswer[] }) {
  const { value } = useLoaded('tasks', (signal) => get<Tasks>('tasks', { signal }));
  const known = new Set(engines.flatMap(({ plugins }) => plugins));
  const missing = new Map<string, string[]>();
  for (const { name, document } of value?.tasks ?? []) {
    const plugin = typeof document['plugin'] === 'string' ? document['plugin'] : name;
    if (!known.has(plugin)) addTo(missing, plugin, name);
  }
  if (engines.length === 0 || missing.size === 0) return null;
  return (
    <div class="box warning" role="status">
      <p>
        <strong>No living engine has these plugins; steps that need them wait:</strong>
      </p>
      <ul>
        {[...missing].map(([plugin, tasks]) => (
          <li key={plugin}>
            <code>{plugin}</code>, for{' '}
            {tasks.slice(0, 5).map((task, i) => (
              <>
                {i > 0 && ', '}
                <Link key={task} href={`/tasks/${encodeURIComponent(task)}`}>
                  {task}
                </Link>
              </>
            ))}
            {tasks.length > 5 && ` and ${tasks.length - 5} more tasks`}
          </li>
        ))}
      </ul>
    </div>
  );
}
