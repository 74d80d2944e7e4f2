import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { send } from '../api.js';
import { AskDialog } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import {
  definitionPath,
  editionHeader,
  kindName,
  type StoredDefinition,
  type StoredKind,
} from './stored.js';

type Props = {
  readonly kind: StoredKind;
  readonly stored: StoredDefinition;
  readonly onRemoved: () => void;
  /** What else is to be known before. */
  readonly children?: ComponentChildren;
};

const ofDefinitions = 'Jobs that have begun keep the edition they began with; new ones will fail.';
/** What it means for jobs when one is removed. */
const meaning: Readonly<Record<StoredKind, string>> = {
  ...{ task: ofDefinitions, flow: ofDefinitions },
  schedule: 'The jobs that it started stay, and go on; it starts no more.',
  hook: 'The jobs that it started stay, and go on; there is nothing at its address any more.',
  notify: 'Notifications that are under way are still sent.',
};

/** Removes a task, flow or schedule, once that was confirmed, while it is of the edition that is shown. */
export function RemoveButton({ kind, stored, onRemoved, children }: Props) {
  const [asks, setAsks] = useState(false);
  const { id, name } = stored;
  return (
    <>
      <LevelButton level="admin" onClick={() => setAsks(true)}>
        Remove …
      </LevelButton>
      {asks && (
        <AskDialog
          title={`Remove the ${kindName(kind)} ${name}?`}
          does="Remove it"
          destroys
          onClose={() => setAsks(false)}
          act={async () => {
            await send('DELETE', definitionPath(kind, id), undefined, {
              headers: editionHeader(stored),
            });
            say(`The ${kindName(kind)} ${name} is gone.`);
            onRemoved();
          }}
        >
          <p>{meaning[kind]}</p>
          {children}
        </AskDialog>
      )}
    </>
  );
}
