import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** A key and what it does here. `keys` as `KeyboardEvent.key` has them. */
export type KeyAction = {
  readonly keys: readonly string[];
  /** What the help says. */
  readonly does: string;
  readonly act: (event: KeyboardEvent) => void;
};

const layers = signal<readonly (readonly KeyAction[])[]>([]);

/** Whether the help is open. */
export const helpIsOpen = signal(false);

/** All keys that do something now. */
export const activeKeys = (): readonly KeyAction[] => layers.value.flat();

/** Gives keys a meaning while a component is there. `actions` should be kept (useMemo). */
export function useKeys(actions: readonly KeyAction[]): void {
  useEffect(() => {
    layers.value = [...layers.value, actions];
    return () => {
      layers.value = layers.value.filter((one) => one !== actions);
    };
  }, [actions]);
}

/** Who writes a text, or has a window open, means letters as letters. */
function isBusy({ target }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], .cm-editor') !== null
  );
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isBusy(event)) return;
  const action = layers.value.flat().findLast(({ keys }) => keys.includes(event.key));
  action?.act(event);
});
