import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { send } from '../api.js';
import { AskDialog } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import { definitionPath, type StoredDefinition } from './stored.js';
import type { DefinitionKind } from '../../model/document.js';

type Props = {
  readonly kind: DefinitionKind;
  readonly stored: StoredDefinition;
  readonly onRemoved: () => void;
  /** What else is to be known before. */
  readonly children?: ComponentChildren;
};

/** Removes a task or flow, once that was confirmed, while it is of the edition that is shown. */
export function RemoveButton({ kind, stored, onRemoved, children }: Props) {
  const [asks, setAsks] = useState(false);
  const { id, rev, name } = stored;
  return (
    <>
      <LevelButton level="admin" onClick={() => setAsks(true)}>
        Remove …
      </LevelButton>
      {asks && (
        <AskDialog
          title={`Remove the ${kind} ${name}?`}
          does="Remove it"
          destroys
          onClose={() => setAsks(false)}
          act={async () => {
            await send('DELETE', definitionPath(kind, id), undefined, {
              headers: { 'if-match': `"${rev}"` },
            });
            say(`The ${kind} ${name} is gone.`);
            onRemoved();
          }}
        >
          <p>Jobs that have begun keep the edition they began with; new ones will fail.</p>
          {children}
        </AskDialog>
      )}
    </>
  );
}
