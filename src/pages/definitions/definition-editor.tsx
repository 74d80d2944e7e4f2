import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { counted } from '../../words.js';
import { send } from '../api.js';
import type { EditorRef } from '../editor/json-editor.js';
import { LazyJsonEditor } from '../editor/lazy-editor.js';
import type { CheckAnswer } from '../editor/marks.js';
import { ownProblems } from '../editor/own-check.js';
import { useSchema } from '../editor/schemas.js';
import { LevelButton } from '../parts/level-button.js';
import { ProblemBox } from '../parts/problem-box.js';
import { say } from '../parts/toasts.js';
import { SlotPreview } from '../schedules/slot-preview.js';
import { mayAdmin } from '../session/session.js';
import { namesOf, type KnownDefinitions } from './known.js';
import { ChangeList } from './change-list.js';
import { differences } from '../../model/three-way.js';
import { MeanwhileBox } from './meanwhile-box.js';
import { blank, editedContent, kindName, kindPath, type Put, type StoredKind } from './stored.js';
import type { Editing } from './use-editing.js';

type Props = {
  readonly kind: StoredKind;
  readonly editing: Editing;
  readonly known: KnownDefinitions | undefined;
  readonly handle?: EditorRef;
  /** It was stored. */
  readonly onStored?: (put: Put) => void;
  /** It is gone, and so is what was changed here. */
  readonly onGone: () => void;
  readonly children?: ComponentChildren;
};

/** The text of a definition with everything that helps to write and store it. */
export function DefinitionEditor(props: Props) {
  const { kind, editing, known, handle, onStored, onGone, children } = props;
  const { stored, text, isChanged, isBusy, value } = editing;
  const schema = useSchema(kind);
  const names = useMemo(() => namesOf(known), [known]);
  const { checks, checked } = useChecks(kind, stored?.id);
  const save = async (): Promise<void> => {
    const put = await editing.save();
    if (put === undefined) return;
    say(savedText(kind, put));
    onStored?.(put);
  };
  const refused = isBusy
    ? 'It is being stored.'
    : !isChanged
      ? 'Nothing was changed.'
      : value === undefined
        ? 'The text is no JSON yet.'
        : undefined;
  return (
    <section class="box definition-editor" aria-label={`JSON of the ${kindName(kind)}`}>
      <Meeting kind={kind} editing={editing} onGone={onGone} save={save} />
      {editing.isRestored && (
        <p class="box warning">
          Your changes that were not saved are here again. Save them, or undo all changes.
        </p>
      )}
      {editing.error !== undefined && <ProblemBox error={editing.error} />}
      <div class="buttons">
        <LevelButton level="admin" kind="primary" refused={refused} onClick={() => void save()}>
          {isBusy ? 'Saving …' : 'Save'}
        </LevelButton>
        <button type="button" disabled={!isChanged || isBusy} onClick={editing.revert}>
          Undo all changes
        </button>
        {children}
        <span class="muted" role="status">
          {isChanged && stored !== undefined ? 'Changed, not saved' : ''}
        </span>
      </div>
      <LazyJsonEditor
        label={`JSON of the ${kindName(kind)}`}
        text={text}
        edition={editing.edition}
        onText={editing.setText}
        schema={schema}
        names={names}
        checks={checks}
        readOnly={!mayAdmin.value}
        onSave={() => {
          if (mayAdmin.value && refused === undefined) void save();
        }}
        {...(handle === undefined ? {} : { handle })}
      />
      {(isChanged || stored === undefined) && <SlotPreview checked={checked} document={value} />}
      <Unsaved editing={editing} />
    </section>
  );
}

/** What is different from the edition that is stored. */
function Unsaved({ editing: { stored, value, isChanged } }: Pick<Props, 'editing'>) {
  if (stored === undefined || !isChanged || value === undefined) return null;
  const changes = differences(editedContent(stored), value);
  return (
    <details>
      <summary>{counted(changes.length, 'change')} not saved</summary>
      <ChangeList changes={changes} />
    </details>
  );
}

const ofJobs = 'Jobs that have begun keep what they began with.';
const whatGoesOn: Readonly<Record<StoredKind, string>> = {
  ...{ task: ofJobs, flow: ofJobs },
  schedule: 'Engines follow it from now on.',
  hook: 'The next delivery follows it.',
  notify: 'Engines follow it from now on.',
};

/** How a document is checked, and what the server said last; undefined while it was not asked. */
function useChecks(kind: StoredKind, id: string | undefined) {
  const [checked, setChecked] = useState<CheckAnswer>();
  const checks = useMemo(() => checksOf(kind, id, setChecked), [kind, id]);
  return { checks, checked };
}

function checksOf(
  kind: StoredKind,
  id: string | undefined,
  tell: (checked: CheckAnswer | undefined) => void,
) {
  return {
    own: (value: unknown) => {
      tell(undefined);
      return ownProblems(kind, value);
    },
    server: async (value: unknown, signal: AbortSignal) => {
      // With its id the server knows which one it replaces, and what its secrets are.
      const document = id === undefined ? value : { ...(value as object), _id: id };
      const answer = await send<CheckAnswer>('POST', `${kindPath(kind)}/check`, document, {
        signal,
      });
      tell(answer);
      return answer;
    },
  };
}

function savedText(kind: StoredKind, { created, warnings }: Put): string {
  const done = created ? 'Stored: it is new.' : `Stored. ${whatGoesOn[kind]}`;
  return warnings.length === 0 ? done : `${done} There are ${warnings.length} warnings.`;
}

type MeetingProps = Pick<Props, 'kind' | 'editing' | 'onGone'> & {
  readonly save: () => Promise<void>;
};

/** What somebody else did meanwhile. */
function Meeting({ kind, editing, onGone, save }: MeetingProps) {
  const { meanwhile, stored, value } = editing;
  if (meanwhile === undefined || stored === undefined) return null;
  const { theirs } = meanwhile;
  return (
    <MeanwhileBox
      base={editedContent(stored)}
      mine={value ?? blank[kind]}
      theirs={theirs}
      onMerge={(both) => editing.goOn(theirs, both)}
      onOverwrite={() => {
        if (theirs !== undefined)
          void editing.save(theirs).then((put) => put && say(savedText(kind, put)));
        else {
          editing.goOn(undefined, value);
          void save();
        }
      }}
      onTheirs={() => {
        if (theirs === undefined) {
          editing.forget();
          onGone();
        } else editing.goOn(theirs, editedContent(theirs));
      }}
    />
  );
}
