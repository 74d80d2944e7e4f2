import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { mayAdmin } from '../session/session.js';
import { NoDefinitions } from './no-definitions.js';
import {
  fieldText,
  kindName,
  kindPath,
  pageOf,
  type StoredDefinition,
  type StoredKind,
} from './stored.js';

/** A column beside the name. */
export type Column<T = StoredDefinition> = {
  readonly title: string;
  readonly cell: (one: T) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
};

type Props<T> = {
  readonly kind: StoredKind;
  readonly all: readonly T[] | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  readonly columns: readonly Column<T>[];
  /** Further words that the search finds one by. */
  readonly words: (one: T) => readonly string[];
  /** Filters beside the search. */
  readonly filters?: ComponentChildren;
  readonly isShown?: (one: T) => boolean;
};

const titles: Readonly<Record<StoredKind, string>> = {
  ...{ task: 'Tasks', flow: 'Flows', schedule: 'Schedules', hook: 'Hooks' },
  notify: 'Notifications',
};

/** So many rows are shown until somebody asks for all. */
const mostAtFirst = 500;

/** All documents of a kind that somebody may see, to be searched. */
export function DefinitionList<T extends StoredDefinition>(props: Props<T>) {
  const { kind, all, error, reload, columns, words, filters, isShown = () => true } = props;
  const [asked, setAsked] = useState('');
  const [owner, setOwner] = useState('');
  const title = titles[kind];
  const owners = [...new Set((all ?? []).map((one) => one.owner))].sort();
  const shown = (all ?? [])
    .filter((one) => (owner === '' || one.owner === owner) && isShown(one))
    .filter((one) => isAsked(one, asked, words(one)));
  return (
    <>
      <PageHead title={title}>
        {mayAdmin.value && (
          <Link class="button primary" href={`/${kindPath(kind)}?new`}>
            New {kindName(kind)}
          </Link>
        )}
      </PageHead>
      <div class="filters" role="search">
        <label>
          Search
          <input
            type="search"
            value={asked}
            placeholder="Name, description …"
            onInput={({ currentTarget }) => setAsked(currentTarget.value)}
          />
        </label>
        {owners.length > 1 && (
          <label>
            Owner
            <select value={owner} onChange={({ currentTarget }) => setOwner(currentTarget.value)}>
              <option value="">All</option>
              {owners.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        {filters}
      </div>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {all === undefined && error === undefined && <Loading what={`${kindName(kind)}s`} />}
      {all?.length === 0 && <NoDefinitions kind={kind} />}
      {all !== undefined && all.length > 0 && (
        <p class="muted" role="status">
          {countText(shown.length, all.length, kind)}
        </p>
      )}
      {shown.length > 0 && <First kind={kind} shown={shown} columns={columns} title={title} />}
    </>
  );
}

function countText(shown: number, all: number, kind: StoredKind): string {
  const name = kindName(kind);
  const many = all === 1 ? name : `${name}s`;
  return shown === all ? `${all} ${many}` : `${shown} of ${all} ${many}`;
}

/** All words that were asked for are somewhere in it. */
function isAsked(
  { name, owner, document }: StoredDefinition,
  asked: string,
  more: readonly string[],
): boolean {
  const text = [name, owner, fieldText(document, 'description') ?? '', ...more]
    .join(' ')
    .toLowerCase();
  return asked
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

type TableProps<T> = Pick<Props<T>, 'kind' | 'columns'> & {
  readonly shown: readonly T[];
  readonly title: string;
};

function First<T extends StoredDefinition>({ shown, ...props }: TableProps<T>) {
  const [most, setMost] = useState(mostAtFirst);
  return (
    <>
      <Table {...props} shown={shown.slice(0, most)} />
      {shown.length > most && (
        <p class="buttons">
          <button type="button" onClick={() => setMost(Infinity)}>
            Show all {shown.length}
          </button>
          <span class="muted">The first {most} are shown; search for others.</span>
        </p>
      )}
    </>
  );
}

function Table<T extends StoredDefinition>({ kind, shown, columns, title }: TableProps<T>) {
  return (
    <div class="table with-cards" tabIndex={0} role="region" aria-label={title}>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Owner</th>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={column.isNumber === true ? 'number' : ''}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                <Link href={pageOf(kind, one.id)}>{one.name}</Link>
                <Description of={one} />
              </th>
              <td data-title="Owner">{one.owner}</td>
              {columns.map((column) => (
                <td
                  key={column.title}
                  data-title={column.title}
                  class={column.isNumber === true ? 'number' : ''}
                >
                  {column.cell(one)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Description({ of }: { readonly of: StoredDefinition }) {
  const text = fieldText(of.document, 'description');
  return text === undefined ? null : <span class="muted note">{text}</span>;
}
