import { useSearch } from 'wouter-preact';
import type { HookStatus } from '../../model/hook.js';
import { hookCheckWord } from '../../reading/hook.js';
import { get } from '../api.js';
import { DefinitionList, type Column } from '../definitions/definition-list.js';
import '../definitions/definitions.css';
import { FlowLink } from '../definitions/flow-link.js';
import { NewDefinition } from '../definitions/new-definition.js';
import { fieldText, type StoredDefinition } from '../definitions/stored.js';
import { useLoaded } from '../live/use-loaded.js';

/** A hook as the API answers it. */
export type HookAnswer = StoredDefinition & {
  readonly status: HookStatus;
  /** Path of its address. */
  readonly path: string;
};

/** The page of all hooks; with `?new` or `?copy=ID` that of a new one. */
export function HooksPage() {
  const asked = new URLSearchParams(useSearch());
  if (asked.has('new') || asked.has('copy')) {
    return <NewDefinition kind="hook" copyOf={asked.get('copy') ?? undefined} />;
  }
  return <HookList />;
}

const columnsWith = (
  flows: readonly StoredDefinition[] | undefined,
): readonly Column<HookAnswer>[] => [
  { title: 'Status', cell: ({ status }) => <HookWord status={status} /> },
  { title: 'Flow', cell: (one) => <FlowLink of={one} flows={flows} /> },
  { title: 'Check', cell: ({ document }) => hookCheckWord(document as never) },
  { title: 'Address', cell: ({ path }) => <code>POST {path}</code> },
];

function HookList() {
  const { value, error, reload } = useLoaded('hooks', (signal) =>
    get<{ readonly hooks: readonly HookAnswer[] }>('hooks', { signal }),
  );
  const flows = useLoaded('flows', (signal) =>
    get<{ readonly flows: readonly StoredDefinition[] }>('flows', { signal }),
  );
  return (
    <DefinitionList
      kind="hook"
      all={value?.hooks}
      error={error}
      reload={reload}
      columns={columnsWith(flows.value?.flows)}
      words={({ document, path }) => [fieldText(document, 'flow') ?? '', path]}
    />
  );
}

const colours: Readonly<Record<HookStatus, string>> = {
  ...{ active: 'succeeded', disabled: 'paused', invalid: 'failed' },
};

/** The status of a hook in its colour. */
export function HookWord({ status }: { readonly status: HookStatus }) {
  return <span class={`status ${colours[status]}`}>{status}</span>;
}
