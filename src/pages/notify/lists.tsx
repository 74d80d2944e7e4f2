import { useSearch } from 'wouter-preact';
import { get } from '../api.js';
import { DefinitionList, type Column } from '../definitions/definition-list.js';
import '../definitions/definitions.css';
import { NewDefinition } from '../definitions/new-definition.js';
import type { StoredDefinition } from '../definitions/stored.js';
import { useLoaded } from '../live/use-loaded.js';
import { toldBy } from './entries.js';

/** A notify list as the API answers it: it has no name. */
export type NotifyListAnswer = Omit<StoredDefinition, 'name'>;

/** The page of all notify lists; with `?new` that of a new one. */
export function NotifyListsPage() {
  if (new URLSearchParams(useSearch()).has('new')) {
    return <NewDefinition kind="notify" copyOf={undefined} />;
  }
  return <Lists />;
}

/** What a list is called: whose jobs it tells of. */
export function withName<L extends NotifyListAnswer>(list: L): L & { readonly name: string } {
  return { ...list, name: list.owner === 'DEFAULT' ? 'All owners' : list.owner };
}

const columns: readonly Column[] = [
  {
    title: 'Tells',
    cell: ({ document }) =>
      toldBy(document).map(({ on, to }) => (
        <div key={`${on} ${to}`}>
          {to} <span class="muted">on {on}</span>
        </div>
      )),
  },
  {
    title: 'Mistakes',
    cell: ({ document: { problems } }) => (Array.isArray(problems) ? problems.length : 0),
    isNumber: true,
  },
];

function Lists() {
  const { value, error, reload } = useLoaded('notify lists', async (signal) => {
    const { lists } = await get<{ readonly lists: readonly NotifyListAnswer[] }>('notify', {
      signal,
    });
    return lists.map(withName);
  });
  return (
    <DefinitionList
      kind="notify"
      all={value}
      error={error}
      reload={reload}
      columns={columns}
      words={({ id, document }) => [id, ...toldBy(document).map(({ on, to }) => `${on} ${to}`)]}
    />
  );
}
