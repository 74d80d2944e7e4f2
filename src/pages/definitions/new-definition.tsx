import { useMemo } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { get } from '../api.js';
import type { AnyDocument } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { who } from '../session/session.js';
import { DefinitionEditor } from './definition-editor.js';
import { FlowPicture } from './flow-picture.js';
import { useKnown, type KnownDefinitions } from './known.js';
import {
  blank,
  editedContent,
  kindName,
  kindPath,
  pageOf,
  definitionPath,
  type StoredDefinition,
  type StoredKind,
} from './stored.js';
import { useEditing } from './use-editing.js';

type Props = {
  readonly kind: StoredKind;
  /** Id of the one that it begins as a copy of. */
  readonly copyOf: string | undefined;
};

/** The page of a task, flow or schedule that is not stored yet. */
export function NewDefinition({ kind, copyOf }: Props) {
  const known = useKnown();
  const original = useLoaded(`${kind} ${copyOf ?? ''}`, async (signal) =>
    copyOf === undefined
      ? undefined
      : get<StoredDefinition>(definitionPath(kind, copyOf), { signal }),
  );
  if (copyOf !== undefined && original.value === undefined) {
    return original.error === undefined ? (
      <Loading what={`the ${kindName(kind)}`} />
    ) : (
      <ProblemBox error={original.error} again={original.reload} />
    );
  }
  const key = copyOf ?? 'new';
  return <Blank key={key} kind={kind} original={original.value} known={known.value} />;
}

type BlankProps = {
  readonly kind: StoredKind;
  readonly original: StoredDefinition | undefined;
  readonly known: KnownDefinitions | undefined;
};

function Blank({ kind, original, known }: BlankProps) {
  const [, navigate] = useLocation();
  const content = useMemo(() => beginning(kind, original, known), []);
  const editing = useEditing(kind, undefined, content);
  return (
    <>
      <PageHead
        title={original === undefined ? `New ${kindName(kind)}` : `Copy of ${original.name}`}
      />
      <div class={kind === 'flow' ? 'definition with-picture' : 'definition'}>
        <DefinitionEditor
          kind={kind}
          editing={editing}
          known={known}
          onStored={({ id }) => navigate(pageOf(kind, id), { replace: true })}
          onGone={() => navigate(`/${kindPath(kind)}`)}
        />
        {kind === 'flow' && <FlowPicture value={editing.value} known={known} />}
      </div>
    </>
  );
}

/** A copy has a name of its own; whoever has one owner only writes for that one. */
function beginning(
  kind: StoredKind,
  original: StoredDefinition | undefined,
  known: KnownDefinitions | undefined,
): AnyDocument {
  if (original !== undefined) {
    const taken = new Set(
      kind === 'flow' || kind === 'task' ? known?.[`${kind}s`].map(({ name }) => name) : [],
    );
    return { ...editedContent(original), name: copyName(original.name, taken) };
  }
  const owners = who.value?.owners;
  const own = owners === undefined || owners === 'all' ? undefined : owners[0];
  return own === undefined ? blank[kind] : { ...blank[kind], owner: own };
}

function copyName(name: string, taken: ReadonlySet<string>): string {
  for (let count = 2; ; count += 1) {
    const next = `${name}-${count}`;
    if (!taken.has(next)) return next;
  }
}
