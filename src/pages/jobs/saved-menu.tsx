import { useMemo, useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { Menu } from '../parts/menu.js';
import { NameForm } from '../parts/name-form.js';
import { say } from '../parts/toasts.js';
import { who } from '../session/session.js';
import { listsIn, mostSaved, withList, withoutList, type SavedList } from './saved-lists.js';
import { listSearch } from './use-address.js';

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
  const search = listSearch(useSearch());
  // Another tab may have saved a list meanwhile.
  const keep = (change: (lists: readonly SavedList[]) => readonly SavedList[]): boolean => {
    const isKept = keepLists(database, change(keptLists(database)));
    if (isKept) setSaves(saves + 1);
    else say('This browser does not allow storage; the list was not saved.', 'problem');
    return isKept;
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
            <Link
              href={`/jobs${saved === '' ? '' : `?${saved}`}`}
              title={name}
              aria-current={saved === search}
            >
              {name}
            </Link>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove the list ${name}`}
              onClick={() => keep((all) => withoutList(all, name))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {lists.length < mostSaved ? (
        <NameForm
          label="Name of this list"
          maxLength={60}
          does={(name) => (lists.some((one) => one.name === name) ? 'Replace' : 'Save')}
          onName={(name) => keep((all) => withList(all, { name, search }))}
        />
      ) : (
        <p class="muted">{mostSaved} lists are saved. Remove one to save another.</p>
      )}
    </Menu>
  );
}
