import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { readRefused } from '../../model/hook.js';
import { hookCheckWord } from '../../reading/hook.js';
import { counted } from '../../words.js';
import { get } from '../api.js';
import { DefinitionAway } from '../definitions/away.js';
import { DefinitionEditor } from '../definitions/definition-editor.js';
import '../definitions/definitions.css';
import { FlowLink } from '../definitions/flow-link.js';
import { useKnown, type KnownDefinitions } from '../definitions/known.js';
import { RemoveButton } from '../definitions/remove-button.js';
import { StartedJobs, useStartedJobs } from '../definitions/started-jobs.js';
import { definitionPath, editedContent } from '../definitions/stored.js';
import { useEditing } from '../definitions/use-editing.js';
import { WrittenProblems } from '../definitions/written-problems.js';
import { usePolled } from '../live/use-polled.js';
import { Fact } from '../parts/fact.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import { HookWord, type HookAnswer } from './hooks.js';

/** How often the hook is read, ms. */
const everyMs = 5_000;

/** The page of one hook: `name` is its id, its name, or `name::owner`. */
export function HookPage({ name }: { readonly name: string }) {
  const { value, error, reload } = usePolled(`hook ${name}`, everyMs, (signal) =>
    get<HookAnswer>(definitionPath('hook', name), { signal }),
  );
  const known = useKnown();
  if (value !== undefined) {
    return <LoadedHook loaded={value} known={known.value} error={error} reload={reload} />;
  }
  if (error === undefined) return <Loading what="the hook" />;
  return <DefinitionAway kind="hook" name={name} error={error} again={reload} />;
}

type Props = {
  readonly loaded: HookAnswer;
  readonly known: KnownDefinitions | undefined;
  readonly error: unknown;
  readonly reload: () => void;
};

function LoadedHook({ loaded, known, error, reload }: Props) {
  const [, navigate] = useLocation();
  const editing = useEditing('hook', loaded, editedContent(loaded));
  const stored = editing.stored ?? loaded;
  useEffect(() => {
    if (loaded.edition !== stored.edition) editing.takeOver(loaded);
  }, [loaded.edition]);
  const { id, name, owner, status, path, document } = loaded;
  const prefix = `hook-run:${name}:${owner}:`;
  const jobs = useStartedJobs(loaded, prefix);
  return (
    <>
      <PageHead title={name}>
        <HookWord status={status} />
        <span class="muted">owner {owner}</span>
        <span class="buttons">
          <Link class="button" href={`/jobs?id_prefix=${encodeURIComponent(prefix)}`}>
            Jobs
          </Link>
          <RemoveButton
            kind="hook"
            stored={loaded}
            onRemoved={() => {
              editing.forget();
              navigate('/hooks');
            }}
          />
        </span>
      </PageHead>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      <WrittenProblems of={loaded} effect="It has mistakes: deliveries start no job." />
      <dl class="facts">
        <Fact
          name="Address"
          value={
            <code>
              POST {location.origin}
              {path}
            </code>
          }
        />
        <Fact name="Flow" value={<FlowLink of={loaded} flows={known?.flows} />} />
        <RefusedFact of={document} />
        <Fact name="Check" value={hookCheckWord({ ...document, _id: id } as never)} />
      </dl>
      <StartedJobs jobs={jobs} prefix={prefix} />
      <DefinitionEditor
        kind="hook"
        editing={editing}
        known={known}
        onStored={reload}
        onGone={() => navigate('/hooks')}
      />
    </>
  );
}

/** How many deliveries were refused, where some were. */
function RefusedFact({ of: document }: { readonly of: HookAnswer['document'] }) {
  const refused = readRefused(document['refused']);
  if (refused === undefined) return null;
  const { count, at, status } = refused;
  const why = status === 413 ? 'it was too long' : 'its sender had not proved itself';
  const words = (
    <>
      {counted(count, 'delivery', 'deliveries')}, the latest <Ago at={at} />: {why}
    </>
  );
  return <Fact name="Refused" value={words} />;
}
