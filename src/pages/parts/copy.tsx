import { useState } from 'preact/hooks';
import { say } from './toasts.js';

/** Puts a text on the clipboard; `what` follows "Copy". */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return say('The browser does not let this page copy; select the text instead.', 'problem');
    }
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      {done ? (
        '✓'
      ) : (
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <path
            d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
          />
        </svg>
      )}
    </button>
  );
}
