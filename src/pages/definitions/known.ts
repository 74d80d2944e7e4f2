import { get } from '../api.js';
import type { EngineAnswer } from '../answers.js';
import type { NamesByKind } from '../editor/completion.js';
import { useLoaded } from '../live/use-loaded.js';
import type { DefinitionLists, StoredDefinition } from './stored.js';

/** Everything that a definition may name. */
export type KnownDefinitions = DefinitionLists & {
  readonly engines: readonly EngineAnswer[];
};

/** Reads tasks and flows. */
export function useDefinitionLists() {
  return useLoaded<DefinitionLists>('tasks and flows', async (signal) => {
    const [{ flows }, { tasks }] = await Promise.all([
      get<{ readonly flows: readonly StoredDefinition[] }>('flows', { signal }),
      get<{ readonly tasks: readonly StoredDefinition[] }>('tasks', { signal }),
    ]);
    return { flows, tasks };
  });
}

/** Reads tasks, flows and engines. */
export function useKnown() {
  return useLoaded<KnownDefinitions>('definitions', async (signal) => {
    const [{ flows }, { tasks }, { engines }] = await Promise.all([
      get<{ readonly flows: readonly StoredDefinition[] }>('flows', { signal }),
      get<{ readonly tasks: readonly StoredDefinition[] }>('tasks', { signal }),
      get<{ readonly engines: readonly EngineAnswer[] }>('engines', { signal }),
    ]);
    return { flows, tasks, engines };
  });
}

/** The names that the editor proposes. */
export function namesOf(known: KnownDefinitions | undefined): NamesByKind {
  if (known === undefined) return {};
  const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();
  return {
    flow: sorted(known.flows.map(({ name }) => name)),
    task: sorted(known.tasks.map(({ name }) => name)),
    plugin: sorted(known.engines.flatMap(({ alive, plugins }) => (alive ? plugins : []))),
  };
}
