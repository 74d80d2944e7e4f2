import { useEffect, useMemo } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { get } from '../api.js';
import { secretPlaces } from '../editor/secret-places.js';
import { parseJsonText } from '../editor/read-json.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { mayAdmin } from '../session/session.js';
import { DefinitionAway } from './away.js';
import { DefinitionEditor } from './definition-editor.js';
import './definitions.css';
import { useKnown, type KnownDefinitions } from './known.js';
import { RemoveButton } from './remove-button.js';
import {
  editedContent,
  pageOf,
  definitionPath,
  fieldText,
  type StoredDefinition,
} from './stored.js';
import { doesOf } from './tasks.js';
import { useEditing } from './use-editing.js';
import { usesOfTasks, type Use } from './uses.js';

/** The page of one task: `name` is its id, its name, or `name::owner`. */
export function TaskPage({ name }: { readonly name: string }) {
  const { value, error, reload } = useLoaded(`task ${name}`, (signal) =>
    get<StoredDefinition>(definitionPath('task', name), { signal }),
  );
  const known = useKnown();
  if (value === undefined) {
    return error === undefined ? (
      <Loading what="the task" />
    ) : (
      <DefinitionAway kind="task" name={name} error={error} again={reload} />
    );
  }
  return <LoadedTask loaded={value} known={known.value} />;
}

type Props = { readonly loaded: StoredDefinition; readonly known: KnownDefinitions | undefined };

function LoadedTask({ loaded, known }: Props) {
  const [, navigate] = useLocation();
  const editing = useEditing('task', loaded, editedContent(loaded));
  const stored = editing.stored ?? loaded;
  useEffect(() => {
    if (loaded.rev !== stored.rev) editing.takeOver(loaded);
  }, [loaded.rev]);
  const allUses = useMemo(() => known && usesOfTasks(known), [known]);
  const uses = allUses?.get(stored.id) ?? [];
  return (
    <>
      <PageHead title={stored.name}>
        <span class="muted">owner {stored.owner}</span>
        <span class="buttons">
          {mayAdmin.value && (
            <Link class="button" href={`/tasks?copy=${encodeURIComponent(stored.id)}`}>
              Duplicate
            </Link>
          )}
          <RemoveButton
            kind="task"
            stored={stored}
            onRemoved={() => {
              editing.forget();
              navigate('/tasks');
            }}
          >
            {uses.length > 0 && (
              <p>
                <strong>It is used by {uses.map(({ by }) => by.name).join(', ')}.</strong>
              </p>
            )}
          </RemoveButton>
        </span>
      </PageHead>
      <div class="definition with-side">
        <DefinitionEditor
          kind="task"
          editing={editing}
          known={known}
          onGone={() => navigate('/tasks')}
        />
        <div class="beside">
          <Does task={stored} known={known} />
          <Secrets text={editing.text} />
          <UsedBy uses={uses} isKnown={known !== undefined} />
        </div>
      </div>
    </>
  );
}

function Does({
  task,
  known,
}: {
  readonly task: StoredDefinition;
  readonly known: KnownDefinitions | undefined;
}) {
  const flow = fieldText(task.document, 'flow');
  const plugin = doesOf(task);
  const engines = (known?.engines ?? []).filter((engine) => engine.alive);
  const able = engines.filter(({ plugins }) => plugins.includes(plugin));
  return (
    <section class="box" aria-labelledby="does-title">
      <h2 id="does-title">{flow === undefined ? 'Plugin' : 'Flow'}</h2>
      <p>
        <code>{flow ?? plugin}</code>
      </p>
      {flow === undefined && known !== undefined && (
        <p class={able.length === 0 ? 'mistake' : 'muted'}>
          {able.length === 0
            ? 'No engine that lives has this plugin: its steps wait.'
            : `${able.length} of ${engines.length} engines have it.`}
        </p>
      )}
    </section>
  );
}

/** Says how secrets stand in the text. */
function Secrets({ text }: { readonly text: string }) {
  const places = useMemo(() => secretPlaces(parseJsonText(text).tree), [text]);
  if (places.length === 0) return null;
  const count = places.length === 1 ? 'One value' : `${places.length} values`;
  return (
    <section class="box" aria-labelledby="secrets-title">
      <h2 id="secrets-title">Secrets</h2>
      <p>
        {count} of it {places.length === 1 ? 'is' : 'are'} not shown and{' '}
        {places.length === 1 ? 'stays' : 'stay'} as before when you save. To change one, put the
        text that <code>tws encrypt</code> prints in its place.
      </p>
    </section>
  );
}

function UsedBy({ uses, isKnown }: { readonly uses: readonly Use[]; readonly isKnown: boolean }) {
  return (
    <section class="box" aria-labelledby="used-title">
      <h2 id="used-title">Used by</h2>
      {isKnown && uses.length === 0 && <p class="muted">No flow and no task uses it.</p>}
      <ul class="parts">
        {uses.map(({ by, kind }) => (
          <li key={by.id}>
            <Link href={pageOf(kind, by.id)}>{by.name}</Link>{' '}
            <span class="muted">
              {kind}, owner {by.owner}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
