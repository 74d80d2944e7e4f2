import { useId } from 'preact/hooks';
import { variantsOf } from './drafts.js';
import type { VariantsField } from './fields.js';
import { FieldInput, SchemaForm, type InputProps } from './schema-form.js';

/** One of several forms: which one, then its inputs. */
export function VariantsInput(props: InputProps<VariantsField>) {
  const { field, draft, onDraft, path, mistakes } = props;
  const { chosen, drafts } = variantsOf(draft);
  const variant = field.variants[chosen];
  const id = useId();
  const inner = {
    draft: drafts[chosen],
    onDraft: (next: typeof draft) => onDraft({ chosen, drafts: drafts.with(chosen, next) }),
    path,
    mistakes: withoutOwn(mistakes, path),
  };
  return (
    <>
      <div class="form-field">
        <label for={id}>Kind</label>
        <select
          id={id}
          value={String(chosen)}
          onChange={({ currentTarget }) => onDraft({ chosen: Number(currentTarget.value), drafts })}
        >
          {!field.required && <option value="-1">None</option>}
          {field.variants.map(({ label }, i) => (
            <option key={label} value={String(i)}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {variant?.kind === 'group' && <SchemaForm field={variant} {...inner} />}
      {variant !== undefined && variant.kind !== 'group' && (
        <FieldInput field={variant} {...inner} />
      )}
    </>
  );
}

/** The frame around the variants tells what is wrong with all of them. */
function withoutOwn(mistakes: InputProps['mistakes'], path: string): InputProps['mistakes'] {
  return Object.fromEntries(Object.entries(mistakes).filter(([at]) => at !== path));
}
