import { useRef } from 'preact/hooks';
import { draftOf, listOf, type Draft } from './drafts.js';
import type { ListField } from './fields.js';
import { FieldInput, type InputProps } from './schema-form.js';

/** Items that can be added, removed and moved. */
export function ListInput(props: InputProps<ListField>) {
  const { field, draft, onDraft, path, mistakes } = props;
  const items = listOf(draft);
  const own = useRef<HTMLDivElement>(null);
  const keys = useRef<number[]>([]);
  const next = useRef(0);
  // Each item keeps its key when it moves, and with it the place of the caret.
  while (keys.current.length < items.length) keys.current.push(next.current++);
  keys.current.length = items.length;
  const change = (items: readonly Draft[], kept: number[]): void => {
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
