import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { get } from '../api.js';
import { DefinitionAway } from '../definitions/away.js';
import { DefinitionEditor } from '../definitions/definition-editor.js';
import '../definitions/definitions.css';
import { useKnown } from '../definitions/known.js';
import { RemoveButton } from '../definitions/remove-button.js';
import { definitionPath, editedContent, type StoredDefinition } from '../definitions/stored.js';
import { useEditing } from '../definitions/use-editing.js';
import { WrittenProblems } from '../definitions/written-problems.js';
import { usePolled } from '../live/use-polled.js';
import { LevelButton } from '../parts/level-button.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { toldBy } from './entries.js';
import { withName, type NotifyListAnswer } from './lists.js';
import { NotifyTestDialog } from './test-dialog.js';

/** How often the list is read, ms. */
const everyMs = 5_000;

/** The page of one notify list: `name` is its owner, or its id. */
export function NotifyListPage({ name }: { readonly name: string }) {
  const { value, error, reload } = usePolled(`notify list ${name}`, everyMs, async (signal) =>
    withName(await get<NotifyListAnswer>(definitionPath('notify', name), { signal })),
  );
  if (value !== undefined) return <LoadedList loaded={value} error={error} reload={reload} />;
  if (error === undefined) return <Loading what="the notify list" />;
  return <DefinitionAway kind="notify" name={name} error={error} again={reload} />;
}

type Props = {
  readonly loaded: StoredDefinition;
  readonly error: unknown;
  readonly reload: () => void;
};

function LoadedList({ loaded, error, reload }: Props) {
  const [, navigate] = useLocation();
  const [tests, setTests] = useState(false);
  const known = useKnown();
  const editing = useEditing('notify', loaded, editedContent(loaded));
  const stored = editing.stored ?? loaded;
  useEffect(() => {
    if (loaded.rev !== stored.rev) editing.takeOver(loaded);
  }, [loaded.rev]);
  const { name, owner, document } = loaded;
  const gone = (): void => {
    editing.forget();
    navigate('/notify');
  };
  return (
    <>
      <PageHead title={name}>
        <span class="muted">owner {owner}</span>
        <span class="buttons">
          <LevelButton level="operator" onClick={() => setTests(true)}>
            Send a test …
          </LevelButton>
          <RemoveButton kind="notify" stored={loaded} onRemoved={gone} />
        </span>
      </PageHead>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      <WrittenProblems of={loaded} effect="It has mistakes: entries with a mistake send nothing." />
      <p>
        {owner === 'DEFAULT'
          ? 'It tells of the jobs of all flows'
          : `It tells of the jobs of all flows of owner ${owner}`}
        , except for flows with <code>"notify_lists": false</code>.
      </p>
      <ul aria-label="Who is told">
        {toldBy(document).map(({ on, to }) => (
          <li key={`${on} ${to}`}>
            {to} <span class="muted">on {on}</span>
          </li>
        ))}
      </ul>
      <DefinitionEditor
        kind="notify"
        editing={editing}
        known={known.value}
        onStored={reload}
        onGone={() => navigate('/notify')}
      />
      {tests && <NotifyTestDialog owner={owner} onClose={() => setTests(false)} />}
    </>
  );
}
