import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { NotJson } from './not-json.js';
import { ProblemBox } from './problem-box.js';

type Props = {
  readonly title: string;
  /** What the button that does it says. */
  readonly does: string;
  /** It takes something away that does not come back. */
  readonly destroys?: boolean;
  /** Why it cannot be done as the form stands. */
  readonly refused?: string | undefined;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
  /** Does it; what it throws is shown, and the window stays. */
  readonly act: (form: FormData) => Promise<void>;
};

/** A window that asks for what something needs, and does it. */
export function AskDialog({
  title,
  does,
  destroys = false,
  refused,
  children,
  onClose,
  act,
}: Props) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const run = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await act(new FormData(form));
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          void run(event.currentTarget);
        }}
      >
        {children}
        {error !== undefined && <ProblemBox error={error} />}
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            {destroys ? 'Leave it as it is' : 'Close'}
          </button>
          <button
            class={destroys ? 'danger' : 'primary'}
            disabled={busy || refused !== undefined}
            title={refused}
          >
            {busy ? 'One moment …' : does}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A text of a form; undefined when nothing was written. */
export function formText(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** JSON that somebody wrote; undefined when nothing was. @throws Error with a sentence */
export function jsonIn(form: FormData, name: string, what: string): unknown {
  const text = formText(form, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new NotJson(`${what} must be JSON: ${(error as Error).message}.`);
  }
}
