import { attachmentOf } from '../../model/big-result.js';
import type { StoredDocument } from '../../model/document.js';
import { isLive, type LiveStep, type Step } from '../../model/step.js';

/**
 * A tip: a revision of a document that is not deleted and on which nobody has written yet. A
 * document with several tips is in conflict; CouchDB shows one of them, the winner.
 */
export type Tip = StoredDocument;

/** A document to be written, which may be new; without `_deleted` its whole content. */
export type NewDraft = {
  readonly _id: string;
  readonly _rev?: string;
  readonly [key: string]: unknown;
};

/** Tips in CouchDB's order: the longest history first, then the highest hash. */
export function winnerFirst(tips: readonly Tip[]): readonly Tip[] {
  return [...tips].sort((a, b) => {
    const [one, other] = [placeOf(a), placeOf(b)];
    if (one.generation !== other.generation) return other.generation - one.generation;
    return one.hash < other.hash ? 1 : -1;
  });
}

function placeOf({ _rev: rev }: Tip): { readonly generation: number; readonly hash: string } {
  return { generation: Number.parseInt(rev, 10), hash: rev.slice(rev.indexOf('-') + 1) };
}

/** The attempts in a document, whatever it is; what is none is left out. */
export function stepsOf({ steps }: Tip): readonly Step[] {
  const list: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return list.filter((step): step is Step => typeof step === 'object' && step !== null);
}

/** The attempt that a claim stands for, as it was told last. */
export function stepOf(tip: Tip, claim: unknown): Step | undefined {
  if (typeof claim !== 'string') return undefined;
  return stepsOf(tip).findLast((step) => step['claim'] === claim);
}

/** Whether the job is final. */
export function isOver({ state }: Tip): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

/** Whether the step at a path is done. */
export function isDone(steps: readonly Step[], path: string): boolean {
  const last = steps.findLast((step) => step.path === path);
  return last?.state === '$$complete' || last?.state === '$$skipped';
}

/** Whether a claim stands in a document and its attempt has not ended. */
export function holds(tip: Tip, claim: string): boolean {
  const step = stepOf(tip, claim);
  return step !== undefined && isLive(step);
}

/** A claim that has begun nothing yet. */
export function asReady({ start: _begun, ...claim }: Begun): LiveStep {
  return { ...claim, state: '$$ready' };
}

type Begun = LiveStep & { readonly start?: unknown };

type Attachments = Readonly<Record<string, { readonly from?: unknown } | undefined>>;

function attachmentsOf({ _attachments: attachments }: NewDraft): Attachments {
  return (attachments ?? {}) as Attachments;
}

/**
 * The document with the large results of its steps that only the other tip keeps. An attachment of
 * another revision is named by it (`from`): whoever writes the document has to take it over.
 */
export function withResultsOf(tip: Tip, other: Tip): Tip {
  const names = stepsOf(tip).map((step) => attachmentOf(step));
  return withAttachmentsOf(
    tip,
    other,
    names.filter((name) => name !== undefined),
  );
}

/** The document with those of these attachments that only the other tip keeps. */
export function withAttachmentsOf(tip: Tip, other: Tip, names: readonly string[]): Tip {
  const [own, others] = [attachmentsOf(tip), attachmentsOf(other)];
  const missed = names.filter((name) => own[name] === undefined && others[name] !== undefined);
  if (missed.length === 0) return tip;
  const taken = missed.map((name) => [name, { from: other._rev, ...others[name] }] as const);
  return { ...tip, _attachments: { ...own, ...Object.fromEntries(taken) } };
}

/** The attachments that a document takes over from another revision. */
export function borrowedIn(
  tip: NewDraft,
): readonly { readonly name: string; readonly from: string }[] {
  return Object.entries(attachmentsOf(tip)).flatMap(([name, one]) =>
    typeof one?.from === 'string' ? [{ name, from: one.from }] : [],
  );
}
