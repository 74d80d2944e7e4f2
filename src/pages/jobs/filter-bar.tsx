import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { useLocation } from 'wouter-preact';
import { ApiProblem, get } from '../api.js';
import type { StoredJob } from '../answers.js';
import { useKeys } from '../keys/keys.js';
import { filterTexts, type ListFilter, type TextPart } from './filter.js';

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
};
const first: readonly TextPart[] = ['flow', 'failure'];

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
      <FindBox box={search} filter={filter} onFilter={onFilter} />
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
  readonly filter: ListFilter;
  readonly onFilter: (filter: ListFilter) => void;
};

/** Opens a job by its id; what is no id is looked for as an external id, or as a key NAME=VALUE. */
function FindBox({ box, filter, onFilter }: FindProps) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const find = async (text: string): Promise<void> => {
    if (text === '') return;
    if (text.includes('=')) return onFilter({ ...filter, key: text });
    setBusy(true);
    try {
      await get<StoredJob>(`jobs/${encodeURIComponent(text)}`);
      navigate(`/jobs/${encodeURIComponent(text)}`);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      onFilter({ status: [], external_id: text });
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
        placeholder="id, external id, or NAME=VALUE"
        aria-keyshortcuts="/"
        aria-busy={busy}
        spellcheck={false}
        autocomplete="off"
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') void find(currentTarget.value.trim());
          if (key === 'Escape') currentTarget.blur();
        }}
      />
    </label>
  );
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
