import { tiesOf, type InputProps } from './field-frame.js';
import type {
  ChoiceField,
  FlagField,
  Format,
  JsonField,
  NumberField,
  TextField,
} from './fields.js';
import { zoneName } from './moments.js';

type Props<F extends TextField | NumberField | ChoiceField | FlagField | JsonField> =
  InputProps<F> & { readonly id: string };

/** What the browser has inputs for. */
const inputTypes: Readonly<Record<Format, string>> = {
  date: 'date',
  time: 'time',
  'date-time': 'datetime-local',
  email: 'email',
  uri: 'url',
  uuid: 'text',
  password: 'password',
};

/** One line, or several of them, or what the browser has for a format. */
export function TextInput(props: Props<TextField>) {
  const { field, draft, onDraft, usual } = props;
  const { format, long, examples } = field;
  const value = typeof draft === 'string' ? draft : '';
  const placeholder = typeof usual === 'string' ? usual : (examples[0] ?? '');
  if (long) {
    return (
      <textarea
        {...tiesOf(props)}
        rows={6}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onDraft(currentTarget.value)}
      />
    );
  }
  const isMoment = format === 'date-time' || format === 'time';
  return (
    <span class="input-line">
      <input
        {...tiesOf(props)}
        type={format === undefined ? 'text' : inputTypes[format]}
        autocomplete="off"
        placeholder={placeholder}
        {...(isMoment ? { step: '1' } : {})}
        value={value}
        onInput={({ currentTarget }) => onDraft(currentTarget.value)}
      />
      {isMoment && <span class="muted">{zoneName()}</span>}
    </span>
  );
}

/** A text input: what is no number stays there and is told, which a number input would swallow. */
export function NumberInput(props: Props<NumberField>) {
  const { field, draft, onDraft, usual } = props;
  return (
    <input
      {...tiesOf(props)}
      class="number-input"
      type="text"
      inputMode={field.integer ? 'numeric' : 'decimal'}
      autocomplete="off"
      placeholder={typeof usual === 'number' ? String(usual) : ''}
      value={typeof draft === 'string' ? draft : ''}
      onInput={({ currentTarget }) => onDraft(currentTarget.value)}
    />
  );
}

/** One of some values. */
export function ChoiceInput(props: Props<ChoiceField>) {
  const { field, draft, onDraft, usual } = props;
  const none = usual === undefined ? 'Choose …' : `As the flow says: ${JSON.stringify(usual)}`;
  const empty = field.required && usual === undefined ? none : usual === undefined ? 'None' : none;
  return (
    <select
      {...tiesOf(props)}
      value={typeof draft === 'string' ? draft : ''}
      onChange={({ currentTarget }) => onDraft(currentTarget.value)}
    >
      <option value="">{empty}</option>
      {field.choices.map(({ label }, i) => (
        <option key={label} value={String(i)}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Yes or no; where it may be left out and says nothing of itself, also neither. */
export function FlagInput(props: Props<FlagField>) {
  const { id, field, draft, onDraft, path, mistakes, usual } = props;
  const mistake = mistakes[path];
  const note = field.description;
  return (
    <div class={mistake === undefined ? 'form-field' : 'form-field wrong'}>
      <label class="flag">
        <input
          {...tiesOf({ id, field, path, mistakes })}
          type="checkbox"
          checked={typeof draft === 'boolean' ? draft : usual === true}
          onChange={({ currentTarget }) => onDraft(currentTarget.checked)}
        />
        {field.label}
      </label>
      {note !== undefined && (
        <p class="muted note" id={`${id}-note`}>
          {note}
        </p>
      )}
      {mistake !== undefined && (
        <p class="mistake" id={`${id}-mistake`}>
          {mistake}
        </p>
      )}
    </div>
  );
}

/** Where no input suits. */
export function JsonInput(props: Props<JsonField>) {
  const { draft, onDraft, usual } = props;
  return (
    <textarea
      {...tiesOf(props)}
      rows={4}
      spellcheck={false}
      placeholder={usual === undefined ? 'JSON' : JSON.stringify(usual)}
      value={typeof draft === 'string' ? draft : ''}
      onInput={({ currentTarget }) => onDraft(currentTarget.value)}
    />
  );
}
