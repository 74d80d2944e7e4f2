import { useState } from 'preact/hooks';
import { isRecord } from '../editor/schema-at.js';
import { draftOf, valueOf, type FieldDraft } from './drafts.js';
import type { FlowForm } from './flow-form.js';
import { mistakesOf, type Mistakes } from './mistakes.js';

/** The parameters of a job while they are filled in: in a form, or as JSON. */
export type ParamsInput = {
  readonly isJson: boolean;
  readonly draft: FieldDraft;
  readonly setDraft: (draft: FieldDraft) => void;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** What is filled in; undefined: it is no JSON. */
  readonly given: unknown;
  readonly mistakes: Mistakes;
  /** All of it, to go on from later. */
  readonly kept: KeptParams;
  /** From the form to JSON, or back; what is filled in goes with it. */
  readonly swap: () => void;
};

/** What is filled in, as it stands in the inputs. */
export type KeptParams = {
  readonly isJson: boolean;
  readonly draft: FieldDraft;
  readonly text: string;
};

/** What the inputs begin with: the parameters of an earlier job, or what the schema says. */
export function firstParams(form: FlowForm | undefined, params: unknown): KeptParams {
  return {
    isJson: form === undefined,
    draft: form && draftOf(form.field, params),
    text: JSON.stringify(params ?? {}, null, 2),
  };
}

/** Begins with what is given. */
export function useParams(form: FlowForm | undefined, begin: KeptParams): ParamsInput {
  const [isJson, setJson] = useState(begin.isJson);
  const [draft, setDraft] = useState<FieldDraft>(begin.draft);
  const [text, setText] = useState(begin.text);
  const given = isJson ? parsed(text) : form && valueOf(form.field, draft);
  const swap = (): void => {
    if (form === undefined) return;
    if (isJson) setDraft(draftOf(form.field, given));
    else setText(JSON.stringify(given ?? {}, null, 2));
    setJson(!isJson);
  };
  const mistakes =
    isJson || form === undefined ? jsonMistake(given) : mistakesOf(form.field, draft, 'params');
  const kept = { isJson, draft, text };
  return { isJson, draft, setDraft, text, setText, given, mistakes, kept, swap };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function jsonMistake(value: unknown): Mistakes {
  return isRecord(value) ? {} : { params: 'The parameters must be a JSON object: {…}.' };
}
