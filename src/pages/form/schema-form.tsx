import { useId, useRef } from 'preact/hooks';
import {
  draftOf,
  groupOf,
  draftItems,
  variantsOf,
  type FieldDraft,
  type GroupDraft,
} from './drafts.js';
import type { GroupField, ListField, VariantsField } from './fields.js';
import { FieldFrame, type InputProps } from './field-frame.js';
import { GroupFrame } from './group-frame.js';
import { belowPath, type Mistakes } from './mistakes.js';
import { ChoiceInput, FlagInput, JsonInput, NumberInput, TextInput } from './simple-inputs.js';
import { SeveralInput } from './several-input.js';

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

function withPart(draft: FieldDraft, key: string, part: FieldDraft): GroupDraft {
  const { parts, rest } = groupOf(draft);
  return { parts: { ...parts, [key]: part }, rest };
}

/** One field with its label, what is said about it, and what is wrong with it. */
function FieldInput(props: InputProps) {
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

/** Items that can be added, removed and moved. */
function ListInput(props: InputProps<ListField>) {
  const { field, draft, onDraft, path, mistakes } = props;
  const items = draftItems(draft);
  const own = useRef<HTMLDivElement>(null);
  const keys = useRef<number[]>([]);
  const next = useRef(0);
  // Each item keeps its key when it moves, and with it the place of the caret.
  while (keys.current.length < items.length) keys.current.push(next.current++);
  keys.current.length = items.length;
  const change = (items: readonly FieldDraft[], kept: number[]): void => {
    keys.current = kept;
    onDraft(items);
  };
  const add = (): void => {
    onDraft([...items, draftOf(field.item)]);
    const selector = `[data-path="${CSS.escape(`${path}[${items.length}]`)}"]`;
    requestAnimationFrame(() => own.current?.querySelector<HTMLElement>(selector)?.focus());
  };
  return (
    <div class="form-list" ref={own}>
      {items.length > 0 && (
        <ol>
          {items.map((item, i) => (
            <li key={keys.current[i]}>
              <FieldInput
                field={{ ...field.item, label: `${field.label} ${i + 1}` }}
                draft={item}
                onDraft={(changed) => onDraft(items.with(i, changed))}
                path={`${path}[${i}]`}
                mistakes={mistakes}
              />
              <div class="buttons">
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Up: ${field.label} ${i + 1}`}
                  disabled={i === 0}
                  onClick={() => change(moved(items, i), moved(keys.current, i))}
                >
                  Up
                </button>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${field.label} ${i + 1}`}
                  onClick={() => change(items.toSpliced(i, 1), keys.current.toSpliced(i, 1))}
                >
                  Remove
                </button>
              </div>
            </li>
          ))}
        </ol>
      )}
      <button type="button" onClick={add} disabled={items.length >= field.maxItems}>
        Add <span class="unseen">to {field.label}</span>
      </button>
    </div>
  );
}

/** A copy in which an item has changed places with the one before. */
function moved<T>(items: readonly T[], at: number): T[] {
  const [item] = items.slice(at, at + 1);
  const without = items.toSpliced(at, 1);
  return item === undefined ? without : without.toSpliced(at - 1, 0, item);
}

/** One of several forms: which one, then its inputs. */
function VariantsInput(props: InputProps<VariantsField>) {
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
function withoutOwn(mistakes: Mistakes, path: string): Mistakes {
  return Object.fromEntries(Object.entries(mistakes).filter(([at]) => at !== path));
}
