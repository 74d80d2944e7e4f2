import { useId } from 'preact/hooks';
import { groupOf, type Draft, type GroupDraft } from './drafts.js';
import type { Field, GroupField } from './fields.js';
import { FieldFrame } from './field-frame.js';
import { GroupFrame } from './group-frame.js';
import { ListInput } from './list-input.js';
import { belowPath, type Mistakes } from './mistakes.js';
import { ChoiceInput, FlagInput, JsonInput, NumberInput, TextInput } from './simple-inputs.js';
import { SeveralInput } from './several-input.js';
import { VariantsInput } from './variants-input.js';

/** What every input of the form is given. */
export type InputProps<F extends Field = Field> = {
  readonly field: F;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** JSON path of the value, by which mistakes are found and the input can be reached. */
  readonly path: string;
  readonly mistakes: Mistakes;
  /** What counts when nothing is filled in. */
  readonly usual?: unknown;
};

/** The inputs of a group, one below the other. */
export function SchemaForm(props: InputProps<GroupField> & { readonly usuals?: Usuals }) {
  const { field, draft, onDraft, path, mistakes, usuals = {} } = props;
  const { parts } = groupOf(draft);
  return (
    <div class="form-fields">
      {Object.entries(field.fields).map(([key, inner]) => (
        <FieldInput
          key={key}
          field={inner}
          draft={parts[key]}
          onDraft={(next) => onDraft(withPart(draft, key, next))}
          path={belowPath(path, key)}
          mistakes={mistakes}
          usual={usuals[key]}
        />
      ))}
    </div>
  );
}

/** What counts for keys that are left out. */
export type Usuals = Readonly<Record<string, unknown>>;

function withPart(draft: Draft, key: string, part: Draft): GroupDraft {
  const { parts, rest } = groupOf(draft);
  return { parts: { ...parts, [key]: part }, rest };
}

/** One field with its label, what is said about it, and what is wrong with it. */
export function FieldInput(props: InputProps) {
  const { field } = props;
  const id = useId();
  switch (field.kind) {
    case 'group':
      return (
        <GroupFrame {...props} field={field}>
          <SchemaForm {...props} field={field} />
        </GroupFrame>
      );
    case 'list':
      return (
        <GroupFrame {...props} field={field}>
          <ListInput {...props} field={field} />
        </GroupFrame>
      );
    case 'variants':
      return (
        <GroupFrame {...props} field={field}>
          <VariantsInput {...props} field={field} />
        </GroupFrame>
      );
    case 'several':
      return (
        <GroupFrame {...props} field={field}>
          <SeveralInput {...props} field={field} />
        </GroupFrame>
      );
    case 'flag':
      return <FlagInput {...props} field={field} id={id} />;
    case 'text':
      return (
        <FieldFrame {...props} id={id}>
          <TextInput {...props} field={field} id={id} />
        </FieldFrame>
      );
    case 'number':
      return (
        <FieldFrame {...props} id={id}>
          <NumberInput {...props} field={field} id={id} />
        </FieldFrame>
      );
    case 'choice':
      return (
        <FieldFrame {...props} id={id}>
          <ChoiceInput {...props} field={field} id={id} />
        </FieldFrame>
      );
    case 'json':
      return (
        <FieldFrame {...props} id={id}>
          <JsonInput {...props} field={field} id={id} />
        </FieldFrame>
      );
    case 'fixed':
      return null;
  }
}
