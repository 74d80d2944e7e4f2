import { signal } from '@preact/signals';

type Toast = { readonly id: number; readonly text: string; readonly kind: 'good' | 'problem' };

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** So long a short word about something that was done stays, ms. */
const shownMs = 6_000;

/** Says something in passing. */
export function say(text: string, kind: Toast['kind'] = 'good'): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, shownMs);
}

/** What was said lately; read out, too. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <p key={id} class={`toast ${kind}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
