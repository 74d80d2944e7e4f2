import { useMemo, useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { Menu } from '../parts/menu.js';
import { say } from '../parts/toasts.js';
import { who } from '../session/session.js';
import { listsIn, withList, withoutList, type SavedList } from './saved-lists.js';

const storageKey = (database: string): string => `tws-lists:${database}`;

/** The lists that this browser keeps for a database; none, where it keeps nothing. */
function keptLists(database: string): readonly SavedList[] {
  try {
    return listsIn(localStorage.getItem(storageKey(database)));
  } catch {
    return [];
  }
}

/** Keeps lists in this browser; false where it keeps nothing. */
function keepLists(database: string, lists: readonly SavedList[]): boolean {
  try {
    localStorage.setItem(storageKey(database), JSON.stringify(lists));
    return true;
  } catch {
    return false;
  }
}

/** The lists of jobs that somebody gave names; this browser keeps them. */
export function SavedMenu() {
  const database = who.value?.place?.database ?? '';
  const [saves, setSaves] = useState(0);
  const lists = useMemo(() => keptLists(database), [database, saves]);
  const search = useSearch();
  const keep = (next: readonly SavedList[]): void => {
    if (keepLists(database, next)) setSaves(saves + 1);
    else say('This browser keeps nothing for these pages, so the list was not saved.', 'problem');
  };
  const current = lists.find((one) => one.search === search);
  return (
    <Menu title={current === undefined ? 'Saved lists' : `List: ${current.name}`}>
      {lists.length === 0 && (
        <p class="muted">Give a filter, with its order and columns, a name to find it again.</p>
      )}
      <ul class="saved">
        {lists.map(({ name, search: saved }) => (
          <li key={name}>
            <Link href={`/jobs${saved === '' ? '' : `?${saved}`}`} aria-current={saved === search}>
              {name}
            </Link>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove the list ${name}`}
              onClick={() => keep(withoutList(lists, name))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <SaveForm onName={(name) => keep(withList(lists, { name, search }))} />
    </Menu>
  );
}

function SaveForm({ onName }: { readonly onName: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() === '') return;
        onName(name.trim());
        setName('');
      }}
    >
      <label class="field">
        <span>Name of this list</span>
        <input
          value={name}
          maxLength={60}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <button type="submit">Save</button>
    </form>
  );
}
