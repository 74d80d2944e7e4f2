import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Whether a click leads away. */
const isLink = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a') !== null;

type Props = {
  readonly title: string;
  /** It is of no use on a narrow screen. */
  readonly wideOnly?: boolean;
  readonly children: ComponentChildren;
};

/** A button that opens a small box; Escape, or a click elsewhere, closes it. */
export function Menu({ title, wideOnly = false, children }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = ({ target }: Event): void => {
      if (target instanceof Node && box.current?.contains(target) === false) setOpen(false);
    };
    const escape = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      setOpen(false);
      box.current?.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    document.addEventListener('keydown', escape);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
      document.removeEventListener('keydown', escape);
    };
  }, [open]);
  return (
    <details
      class={wideOnly ? 'menu wide' : 'menu'}
      ref={box}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span title={title}>{title}</span>
      </summary>
      {open && (
        <div class="menu-box" onClick={({ target }) => isLink(target) && setOpen(false)}>
          {children}
        </div>
      )}
    </details>
  );
}
