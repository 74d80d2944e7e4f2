import type { Difference } from '../../model/three-way.js';

/** What is different between two editions, place by place. */
export function ChangeList({ changes }: { readonly changes: readonly Difference[] }) {
  return (
    <ul class="changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code>: <ShortValue value={before} gone="not there" /> →{' '}
          <ShortValue value={after} gone="removed" />
        </li>
      ))}
    </ul>
  );
}

/** Longest picture of a value. */
const mostLetters = 120;

type ValueProps = { readonly value: unknown; readonly gone: string };

/** A value on one line; `gone`: what is said where there is none. */
export function ShortValue({ value, gone }: ValueProps) {
  if (value === undefined) return <em>{gone}</em>;
  const text = JSON.stringify(value);
  return <code>{text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text}</code>;
}
