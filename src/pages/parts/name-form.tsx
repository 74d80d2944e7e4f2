import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

type Props = {
  readonly label: string;
  readonly maxLength?: number;
  /** What the button says about a name. */
  readonly does: (name: string) => ComponentChildren;
  /** Takes a name, without blanks around it; false keeps it in the field, to be changed. */
  readonly onName: (name: string) => boolean;
};

/** One line that takes a name, and a button. */
export function NameForm({ label, maxLength, does, onName }: Props) {
  const [text, setText] = useState('');
  const name = text.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name !== '' && onName(name)) setText('');
      }}
    >
      <label class="field">
        <span>{label}</span>
        <input
          value={text}
          maxLength={maxLength}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">{does(name)}</button>
    </form>
  );
}
