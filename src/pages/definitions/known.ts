import { get } from '../api.js';
import type { Engine } from '../answers.js';
import type { Names } from '../editor/completion.js';
import { useLoaded } from '../live/use-loaded.js';
import type { Stored } from './stored.js';

/** Everything that a definition may name. */
export type Known = {
  readonly flows: readonly Stored[];
  readonly tasks: readonly Stored[];
  readonly engines: readonly Engine[];
};

/** Reads tasks, flows and engines. */
export function useKnown() {
  return useLoaded<Known>('definitions', async (signal) => {
    const [{ flows }, { tasks }, { engines }] = await Promise.all([
      get<{ readonly flows: readonly Stored[] }>('flows', { signal }),
      get<{ readonly tasks: readonly Stored[] }>('tasks', { signal }),
      get<{ readonly engines: readonly Engine[] }>('engines', { signal }),
    ]);
    return { flows, tasks, engines };
  });
}

/** The names that the editor proposes. */
export function namesOf(known: Known | undefined): Names {
  if (known === undefined) return {};
  const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();
  return {
    flow: sorted(known.flows.map(({ name }) => name)),
    task: sorted(known.tasks.map(({ name }) => name)),
    plugin: sorted(known.engines.flatMap(({ alive, plugins }) => (alive ? plugins : []))),
  };
}
