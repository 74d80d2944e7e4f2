import { useMemo, useState } from 'preact/hooks';
import { Copy } from './copy.js';

type Props = { readonly value: unknown; readonly what: string };

/** Longer texts are shown on demand: a browser takes long to lay them out. */
const mostLetters = 40_000;

/** A value as JSON, to read and to copy. */
export function JsonView({ value, what }: Props) {
  const [whole, setWhole] = useState(false);
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'undefined', [value]);
  const isLong = text.length > mostLetters && !whole;
  return (
    <div class="json">
      <Copy text={text} what={what} />
      <pre tabIndex={0} role="region" aria-label={what}>
        {isLong ? `${text.slice(0, mostLetters)}\n…` : text}
      </pre>
      {isLong && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {Math.round(text.length / 1000)} KB
        </button>
      )}
    </div>
  );
}
