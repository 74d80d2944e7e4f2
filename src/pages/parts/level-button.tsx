import type { ComponentChildren } from 'preact';
import { levelRefusal } from '../session/session.js';

type Props = {
  readonly level: 'operator' | 'admin';
  readonly onClick: () => void;
  /** `risky`: it asks before it destroys anything. */
  readonly kind?: 'primary' | 'danger' | 'risky' | 'plain';
  /** Why it cannot be done now, whoever asks. */
  readonly refused?: string | undefined;
  readonly children: ComponentChildren;
};

/** A button for whoever has the role; others see why it is not for them. */
export function LevelButton({ level, onClick, kind = 'plain', refused, children }: Props) {
  const reason = levelRefusal(level) ?? refused;
  return (
    <button
      type="button"
      class={kind}
      disabled={reason !== undefined}
      title={reason}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
