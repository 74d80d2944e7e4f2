import type { StoredDefinition } from './stored.js';

type Props = {
  readonly of: Pick<StoredDefinition, 'document'>;
  /** What follows from them, as a sentence. */
  readonly effect: string;
};

/** What engines wrote into `problems` of a document; nothing where there are none. */
export function WrittenProblems({ of: { document }, effect }: Props) {
  const { problems } = document;
  if (!Array.isArray(problems) || problems.length === 0) return null;
  return (
    <section class="box problem" role="alert" aria-label="Problems">
      <p>
        <strong>{effect}</strong>
      </p>
      <ul>
        {(problems as readonly { readonly message?: unknown }[]).map(({ message }) => (
          <li key={String(message)}>{String(message)}</li>
        ))}
      </ul>
    </section>
  );
}
