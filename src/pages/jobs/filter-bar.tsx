import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { useKeys } from '../keys/keys.js';
import { filterTexts, type ListFilter, type TextPart } from './filter.js';
import { useMedia } from '../parts/use-media.js';
import { FindBox } from './find-box.js';

type Props = {
  readonly filter: ListFilter;
  readonly onFilter: (filter: ListFilter) => void;
  /** Names of flows, to choose from. */
  readonly flows: readonly string[];
};

const fields: Readonly<Record<TextPart, { title: string; hint: string; type?: string }>> = {
  flow: { title: 'Flow', hint: 'any' },
  failure: { title: 'Failure', hint: 'StepTimeout' },
  version: { title: 'Version of the flow', hint: '2' },
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
  // On a phone the jobs would stand below all these fields: they are shown when they are asked for.
  const isNarrow = useMedia('(max-width: 48rem)');
  const set = (isNarrow ? filterTexts : rest).filter((name) => filter[name] !== undefined).length;
  const [open, setOpen] = useState(!isNarrow && set > 0);
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
      {(open || !isNarrow) && first.map(field)}
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Fewer filters' : `More filters${set > 0 ? ` (${set})` : ''}`}
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
