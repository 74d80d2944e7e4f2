import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { useLocation } from 'wouter-preact';
import { ApiProblem, get } from '../api.js';
import type { JobList, StoredJob } from '../answers.js';
import { useKeys } from '../keys/keys.js';
import { filterTexts, type ListFilter, type TextPart } from './filter.js';
import { completionsOf, readSearch } from './find-language.js';

type Props = {
  readonly filter: ListFilter;
  readonly onFilter: (filter: ListFilter) => void;
  /** Names of flows, to choose from. */
  readonly flows: readonly string[];
};

const fields: Readonly<Record<TextPart, { title: string; hint: string; type?: string }>> = {
  flow: { title: 'Flow', hint: 'any' },
  failure: { title: 'Failure', hint: 'name, as StepTimeout' },
  owner: { title: 'Owner', hint: 'any' },
  tag: { title: 'Tag', hint: 'all of a,b' },
  key: { title: 'Key', hint: 'NAME=VALUE' },
  from: { title: 'Begun from', hint: '', type: 'datetime-local' },
  to: { title: 'Begun before', hint: '', type: 'datetime-local' },
  external_id: { title: 'External id', hint: 'any' },
  parent: { title: 'Parent job', hint: 'id' },
  id_prefix: { title: 'Id begins with', hint: 'import-' },
  text: { title: 'Failure contains', hint: 'no amount' },
};
const first: readonly TextPart[] = ['flow', 'failure', 'text'];

/** Says which jobs are listed; every change goes into the address. */
export function FilterBar({ filter, onFilter, flows }: Props) {
  const search = useRef<HTMLInputElement>(null);
  const rest = filterTexts.filter((name) => !first.includes(name));
  const isUsed = rest.some((name) => filter[name] !== undefined);
  const [open, setOpen] = useState(isUsed);
  const given = filter.status.length > 0 || filterTexts.some((name) => filter[name] !== undefined);
  useSearchKey(search);
  const field = (name: TextPart) => (
    <Field
      key={name}
      name={name}
      value={filter[name] ?? ''}
      list={name === 'flow' ? flows : []}
      onValue={(value) => onFilter(withPart(filter, name, value))}
    />
  );
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filter jobs"
      onSubmit={(event) => event.preventDefault()}
    >
      <FindBox box={search} onFilter={onFilter} flows={flows} />
      {first.map(field)}
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Fewer filters' : 'More filters'}
      </button>
      {given && (
        <button type="button" class="quiet" onClick={() => onFilter({ status: [] })}>
          Clear all
        </button>
      )}
      {open && <div class="more-filters">{rest.map(field)}</div>}
    </form>
  );
}

function withPart(filter: ListFilter, name: TextPart, value: string): ListFilter {
  const { [name]: _before, ...others } = filter;
  return value.trim() === '' ? others : { ...others, [name]: value.trim() };
}

type FieldProps = {
  readonly name: TextPart;
  readonly value: string;
  readonly list: readonly string[];
  readonly onValue: (value: string) => void;
};

/** A text counts when somebody has stopped writing. */
const restMs = 400;

function Field({ name, value, list, onValue }: FieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const { title, hint, type = 'text' } = fields[name];
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="field">
      <span>{title}</span>
      <input
        type={type}
        value={text}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        {...(list.length > 0 ? { list: `known-${name}` } : {})}
        onInput={({ currentTarget }) => {
          const written = currentTarget.value;
          setText(written);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onValue(written), restMs);
        }}
      />
      {list.length > 0 && (
        <datalist id={`known-${name}`}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

type FindProps = {
  readonly box: RefObject<HTMLInputElement>;
  readonly onFilter: (filter: ListFilter) => void;
  readonly flows: readonly string[];
};

/**
 * Opens a job by its id. `field:value` words filter; NAME=VALUE is a search key; anything else is the
 * beginning of ids, or an external id where there is one.
 */
function FindBox({ box, onFilter, flows }: FindProps) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState('');
  const completions = useMemo(() => completionsOf(text, flows), [text, flows]);
  const find = async (): Promise<void> => {
    if (text.trim() === '') return;
    const { filter, rest } = readSearch(text);
    const given = filter ?? { status: [] };
    if (rest.includes('=')) return onFilter({ ...given, key: rest });
    if (filter !== undefined) return onFilter(rest === '' ? given : { ...given, id_prefix: rest });
    setBusy(true);
    try {
      const found = await foundBy(rest);
      if (found === 'job') navigate(`/jobs/${encodeURIComponent(rest)}`);
      else onFilter({ status: [], [found]: rest });
    } finally {
      setBusy(false);
    }
  };
  return (
    <label class="field find">
      <span>Find a job</span>
      <input
        ref={box}
        type="search"
        placeholder="id, NAME=VALUE, or status:failed flow:…"
        title={findHelp}
        list="find-completions"
        aria-keyshortcuts="/"
        aria-busy={busy}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') void find();
          if (key === 'Escape') currentTarget.blur();
        }}
      />
      <datalist id="find-completions">
        {completions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

const findHelp =
  'An id or its beginning, an external id, NAME=VALUE, or words such as status:failed,running flow:etl text:"no amount" id:import- tag:nightly owner:acme';

/** What a text that is no filter means. */
async function foundBy(text: string): Promise<'job' | 'external_id' | 'id_prefix' | 'text'> {
  if (/\s/.test(text)) return 'text';
  try {
    await get<StoredJob>(`jobs/${encodeURIComponent(text)}`);
    return 'job';
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
  }
  const query = { external_id: text, limit: 1 };
  const { jobs } = await get<JobList>('jobs', { query });
  return jobs.length > 0 ? 'external_id' : 'id_prefix';
}

function useSearchKey(box: RefObject<HTMLInputElement>): void {
  const actions = useMemo(
    () => [
      {
        keys: ['/'],
        does: 'Find a job',
        act: (event: KeyboardEvent) => {
          event.preventDefault();
          box.current?.focus();
        },
      },
    ],
    [box],
  );
  useKeys(actions);
}
