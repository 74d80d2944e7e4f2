import { useState } from 'preact/hooks';

/** Puts a text on the clipboard; `what` follows "Copy". */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy().catch(() => undefined)}
    >
      {done ? '✓' : '⧉'}
    </button>
  );
}
