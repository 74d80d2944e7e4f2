import { versionOf } from '../../model/flow-versions.js';
import { insteadOfDeprecated } from '../../model/welcome.js';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { get } from '../api.js';
import type { EditorHandle } from '../editor/json-editor.js';
import { useLoaded } from '../live/use-loaded.js';
import { LevelButton } from '../parts/level-button.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { mayAdmin, mayOperate } from '../session/session.js';
import { DefinitionAway } from './away.js';
import { DefinitionEditor } from './definition-editor.js';
import './definitions.css';
import { FlowPicture } from './flow-picture.js';
import { FlowVersionsBox } from './flow-versions.js';
import { switchFlow, StateWord } from './flows.js';
import { useKnown, type KnownDefinitions } from './known.js';
import { GatheredEvents } from './gathered-events.js';
import { NamedParts } from './named-parts.js';
import { RecentJobs } from './recent-jobs.js';
import { RemoveButton } from './remove-button.js';
import { RunningEditions } from './running-editions.js';
import {
  editedContent,
  definitionPath,
  stateOf,
  type DefinitionLists,
  type StoredDefinition,
} from './stored.js';
import { useEditing } from './use-editing.js';

/** The page of one flow: `name` is its id, its name, or `name::owner`. */
export function FlowPage({ name }: { readonly name: string }) {
  const { value, error, reload } = useLoaded(`flow ${name}`, (signal) =>
    get<StoredDefinition>(definitionPath('flow', name), { signal }),
  );
  const known = useKnown();
  if (value === undefined) {
    return error === undefined ? (
      <Loading what="the flow" />
    ) : (
      <DefinitionAway kind="flow" name={name} error={error} again={reload} />
    );
  }
  return <LoadedFlow key={value.id} loaded={value} known={known.value} reload={reload} />;
}

type Props = {
  readonly loaded: StoredDefinition;
  readonly known: KnownDefinitions | undefined;
  readonly reload: () => void;
};

function LoadedFlow({ loaded, known, reload }: Props) {
  const [, navigate] = useLocation();
  const editing = useEditing('flow', loaded, editedContent(loaded));
  const handle = useRef<EditorHandle>();
  const stored = editing.stored ?? loaded;
  useEffect(() => {
    if (loaded.rev !== stored.rev) editing.takeOver(loaded);
  }, [loaded.rev]);
  return (
    <>
      <FlowHead
        stored={stored}
        reload={reload}
        onRemoved={() => {
          editing.forget();
          navigate('/flows');
        }}
      />
      {stateOf(stored.document) === 'disabled' && (
        <p class="box warning">It is disabled: new jobs for it fail until it is enabled again.</p>
      )}
      {stateOf(stored.document) === 'deprecated' && (
        <p class="box warning">
          It is deprecated and takes no new jobs. {insteadOfDeprecated(stored.document)}
        </p>
      )}
      <div class="definition with-picture">
        <DefinitionEditor
          kind="flow"
          editing={editing}
          known={known}
          handle={handle}
          onGone={() => navigate('/flows')}
        />
        <div class="beside">
          <FlowPicture
            value={editing.value}
            known={known}
            goTo={(path) => handle.current?.goTo(path)}
          />
          <FlowVersionsBox flow={stored} onSwitched={reload} />
          <NamedParts value={editing.value} known={known} />
          {known !== undefined && (
            <RunningEditions flow={stored} stored={withNewest(known, stored)} />
          )}
          <GatheredEvents flow={stored} />
          <RecentJobs flow={stored} />
        </div>
      </div>
    </>
  );
}

/** What was stored here just now counts, also while it is not read again. */
function withNewest(known: KnownDefinitions, stored: StoredDefinition): DefinitionLists {
  const flows = known.flows.map((flow) => (flow.id === stored.id ? stored : flow));
  return { flows, tasks: known.tasks };
}

type HeadProps = Pick<Props, 'reload'> & {
  readonly stored: StoredDefinition;
  readonly onRemoved: () => void;
};

/** The name, the state and the owner of the flow, and the buttons that act on it. */
function FlowHead({ stored, reload, onRemoved }: HeadProps) {
  const state = stateOf(stored.document);
  const isDisabled = state === 'disabled';
  const version = versionOf(stored.document);
  return (
    <PageHead title={stored.name}>
      <StateWord state={state} />
      <span class="muted">
        owner {stored.owner}
        {version !== undefined && `, version ${version}`}
      </span>
      <span class="buttons">
        {mayOperate.value && state !== 'deprecated' && (
          <Link class="button primary" href={`/submit/${encodeURIComponent(stored.id)}`}>
            Submit a job
          </Link>
        )}
        <LevelButton
          level="operator"
          onClick={() => void switchFlow(stored, isDisabled).then(reload)}
        >
          {isDisabled ? 'Enable' : 'Disable'}
        </LevelButton>
        {mayAdmin.value && (
          <Link class="button" href={`/flows?copy=${encodeURIComponent(stored.id)}`}>
            Duplicate
          </Link>
        )}
        <RemoveButton kind="flow" stored={stored} onRemoved={onRemoved} />
      </span>
    </PageHead>
  );
}
