import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Needed, FieldNotes, type InputProps } from './field-frame.js';

/** Several inputs that belong together. */
export function GroupFrame(props: InputProps & { readonly children: ComponentChildren }) {
  const { field, path, mistakes, usual, children } = props;
  const id = useId();
  const mistake = mistakes[path];
  return (
    <fieldset
      class={mistake === undefined ? 'form-group' : 'form-group wrong'}
      data-path={path}
      tabIndex={-1}
    >
      <legend>
        {field.label}
        <Needed field={field} usual={usual} />
      </legend>
      <FieldNotes id={id} field={field} usual={usual} />
      {mistake !== undefined && <p class="mistake">{mistake}</p>}
      {children}
    </fieldset>
  );
}
