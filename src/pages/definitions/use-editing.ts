import { useMemo, useState } from 'preact/hooks';
import { ApiProblem, get, send } from '../api.js';
import { parseJsonText } from '../editor/read-json.js';
import { isSameJson, mergeEdits } from '../../model/three-way.js';
import {
  editedContent,
  editionHeader,
  definitionPath,
  fieldText,
  editorText,
  type Put,
  type StoredDefinition,
  type StoredKind,
} from './stored.js';
import type { AnyDocument } from '../answers.js';
import { forgetUnsaved, unsavedOf, useUnsaved } from './unsaved.js';

/** What somebody else has stored while this one was edited; undefined: it was removed. */
export type Meanwhile = { readonly theirs: StoredDefinition | undefined };

/** One definition in the editor. */
export type Editing = {
  /** The edition that is edited; undefined: it is a new one. */
  readonly stored: StoredDefinition | undefined;
  readonly text: string;
  /** Another one when the text is not what somebody wrote just now. */
  readonly edition: number;
  readonly setText: (text: string) => void;
  /** What the text is as JSON; undefined while it is none. */
  readonly value: unknown;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly meanwhile: Meanwhile | undefined;
  /** Stores it; undefined: it was not, and `error` or `meanwhile` say why. */
  readonly save: (over?: StoredDefinition) => Promise<Put | undefined>;
  /** Goes on from another edition; `content` is what stands in the editor then. */
  readonly goOn: (stored: StoredDefinition | undefined, content: unknown) => void;
  /** Takes over a newer edition, keeping what was changed here. */
  readonly takeOver: (stored: StoredDefinition) => void;
  readonly revert: () => void;
  /** What was left unsaved before is here again. */
  readonly isRestored: boolean;
  /** Nothing of the changes is to be kept. */
  readonly forget: () => void;
};

/** What was written and not stored: the text, and the edition it was made from. */
type Unsaved = { readonly text: string; readonly stored: StoredDefinition | undefined };

/** Edits a definition: an existing one, or a new one that begins with `content`. */
export function useEditing(
  kind: StoredKind,
  from: StoredDefinition | undefined,
  content: AnyDocument,
): Editing {
  const [key] = useState(() => `${kind} ${from?.id ?? `new ${editorText(content)}`}`);
  const [left] = useState(() => unsavedOf(key) as Unsaved | undefined);
  const [stored, setStored] = useState(left === undefined ? from : left.stored);
  const [text, setText] = useState(() => left?.text ?? editorText(content));
  const [edition, setEdition] = useState(0);
  const value = useMemo(() => parseJsonText(text).value, [text]);
  const base = stored === undefined ? content : editedContent(stored);
  const isChanged = value === undefined || !isSameJson(value, base);
  useUnsaved(key, isChanged ? { text, stored } : undefined);
  const { save, clear, ...saving } = useSaving(kind, (next) => {
    setStored(next);
    forgetUnsaved(key);
  });

  const show = (shown: unknown): void => {
    setText(editorText(shown));
    setEdition((before) => before + 1);
  };
  const goOn = (next: StoredDefinition | undefined, shown: unknown): void => {
    setStored(next);
    show(shown);
    clear();
  };
  const takeOver = (next: StoredDefinition): void => {
    const theirs = editedContent(next);
    if (value === undefined) return setStored(next);
    const merged = mergeEdits(base, value, theirs);
    setStored(next);
    if (!isSameJson(merged.value, value)) show(merged.value);
  };
  return {
    stored,
    text,
    edition,
    setText,
    value,
    isChanged,
    ...saving,
    save: (over = stored) => save(value, over),
    goOn,
    takeOver,
    revert: () => goOn(stored, base),
    isRestored: left !== undefined && isChanged,
    forget: () => forgetUnsaved(key),
  };
}

/** Stores what was written and keeps the reason when it could not. */
function useSaving(kind: StoredKind, onStored: (stored: StoredDefinition) => void) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [meanwhile, setMeanwhile] = useState<Meanwhile>();
  const clear = (): void => {
    setError(undefined);
    setMeanwhile(undefined);
  };
  const save = async (
    value: unknown,
    over: StoredDefinition | undefined,
  ): Promise<Put | undefined> => {
    setBusy(true);
    clear();
    try {
      if (value === undefined)
        throw new NotYet('The text is no JSON yet: look at the marks in it.');
      const put = await store(kind, value, over);
      onStored(await get<StoredDefinition>(definitionPath(kind, put.id)));
      return put;
    } catch (problem) {
      const isTaken = problem instanceof ApiProblem && changedMeanwhile.has(problem.error);
      if (isTaken && over !== undefined) {
        await newest(kind, over.id).then(setMeanwhile, setError);
      } else setError(problem);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, meanwhile, save, clear };
}

/** What the API answers when the revision that was edited is not the newest, or is removed. */
const changedMeanwhile: ReadonlySet<string> = new Set(['document_conflict', 'definition_absent']);

/** What has to be done before something can be. */
export class NotYet extends Error {
  // The box for problems shows such a sentence as it is.
  override readonly name = 'NotJson';
}

async function store(
  kind: StoredKind,
  value: unknown,
  over: StoredDefinition | undefined,
): Promise<Put> {
  if (over !== undefined) {
    return send<Put>('PUT', definitionPath(kind, over.id), value, {
      headers: editionHeader(over),
    });
  }
  const document = (typeof value === 'object' && value !== null ? value : {}) as AnyDocument;
  const owner = fieldText(document, 'owner');
  if (kind === 'notify') return send<Put>('PUT', definitionPath(kind, owner ?? 'DEFAULT'), value);
  const name = fieldText(document, 'name') ?? '';
  if (name === '') throw new NotYet(`A new ${kind} needs a name: write it behind "name".`);
  const called = owner === undefined ? name : `${name}::${owner}`;
  return send<Put>('PUT', definitionPath(kind, called), value);
}

async function newest(kind: StoredKind, id: string): Promise<Meanwhile> {
  try {
    return { theirs: await get<StoredDefinition>(definitionPath(kind, id)) };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) return { theirs: undefined };
    throw problem;
  }
}
