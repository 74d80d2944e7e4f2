import { draftItems } from './drafts.js';
import type { SeveralField } from './fields.js';
import type { InputProps } from './field-frame.js';

/** Any of some values: a box for each. */
export function SeveralInput({ field, draft, onDraft }: InputProps<SeveralField>) {
  const chosen = draftItems(draft).map(String);
  const change = (index: string, isOn: boolean): void => {
    const others = chosen.filter((one) => one !== index);
    onDraft((isOn ? [...others, index] : others).sort((a, b) => Number(a) - Number(b)));
  };
  return (
    <div class="form-several">
      {field.choices.map(({ label }, i) => (
        <label key={label} class="flag">
          <input
            type="checkbox"
            checked={chosen.includes(String(i))}
            onChange={({ currentTarget }) => change(String(i), currentTarget.checked)}
          />
          {label}
        </label>
      ))}
    </div>
  );
}
