import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export type Tab = { readonly key: string; readonly title: string };

type Props = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly open: string;
  readonly onOpen: (key: string) => void;
  /** What is in the open one. */
  readonly children: ComponentChildren;
};

/** Several parts of which one is seen; arrows go from one to the next. */
export function Tabs({ label, tabs, open, onOpen, children }: Props) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (by: number): void => {
    const at = tabs.findIndex(({ key }) => key === open);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onOpen(next.key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list}>
        {tabs.map(({ key, title }) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${id}-${key}`}
            data-tab={key}
            aria-selected={key === open}
            aria-controls={`${id}-panel`}
            tabIndex={key === open ? 0 : -1}
            onClick={() => onOpen(key)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowRight') move(1);
              else if (event.key === 'ArrowLeft') move(-1);
              else return;
              event.preventDefault();
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </div>
  );
}
