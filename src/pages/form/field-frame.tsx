import type { ComponentChildren } from 'preact';
import type { FieldDraft } from './drafts.js';
import type { Field } from './fields.js';
import type { Mistakes } from './mistakes.js';

/** What every input of the form is given. */
export type InputProps<F extends Field = Field> = {
  readonly field: F;
  readonly draft: FieldDraft;
  readonly onDraft: (draft: FieldDraft) => void;
  /** JSON path of the value, by which mistakes are found and the input can be reached. */
  readonly path: string;
  readonly mistakes: Mistakes;
  /** What counts when nothing is filled in. */
  readonly usual?: unknown;
};

type Props = Omit<InputProps, 'draft' | 'onDraft'> & {
  /** That of the input. */
  readonly id: string;
  readonly children: ComponentChildren;
};

/** Label, input, what is said about it, and what is wrong with it. */
export function FieldFrame({ id, field, path, mistakes, usual, children }: Props) {
  const mistake = mistakes[path];
  return (
    <div class={mistake === undefined ? 'form-field' : 'form-field wrong'}>
      <label for={id}>
        {field.label}
        <Needed field={field} usual={usual} />
      </label>
      {children}
      <FieldNotes id={id} field={field} usual={usual} />
      {mistake !== undefined && (
        <p class="mistake" id={`${id}-mistake`}>
          {mistake}
        </p>
      )}
    </div>
  );
}

/** Says of a field that it may be left out, or what is asked of it. */
export function Needed({ field, usual }: { readonly field: Field; readonly usual?: unknown }) {
  const optional = !field.required || usual !== undefined;
  return optional ? <span class="muted optional"> (optional)</span> : null;
}

/** What the schema says about a field. */
export function FieldNotes(props: {
  readonly id: string;
  readonly field: Field;
  readonly usual?: unknown;
}) {
  const { id, field, usual } = props;
  const text = field.description;
  // Of a choice the empty one says it.
  const isShown = usual !== undefined && field.kind !== 'choice';
  if (text === undefined && usual === undefined) return null;
  return (
    <p class="muted note" id={`${id}-note`}>
      {text}
      {isShown && (
        <>
          {' '}
          Otherwise: <code>{JSON.stringify(usual)}</code>
        </>
      )}
    </p>
  );
}

/** How an input is tied to its note and its mistake. */
export function tiesOf({ id, field, path, mistakes, usual }: Omit<Props, 'children'>) {
  const mistake = mistakes[path] !== undefined;
  const hasNote = field.description !== undefined || usual !== undefined;
  const about = [...(hasNote ? [`${id}-note`] : []), ...(mistake ? [`${id}-mistake`] : [])];
  return {
    id,
    'data-path': path,
    'aria-required': field.required && usual === undefined,
    'aria-invalid': mistake,
    ...(about.length === 0 ? {} : { 'aria-describedby': about.join(' ') }),
  };
}
