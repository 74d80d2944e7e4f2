import { attachmentOf } from '../../model/big-result.js';
import type { StoredDocument } from '../../model/document.js';
import { isLive, type Step } from '../../model/step.js';

/**
 * A leaf revision: one of a document that is not deleted and on which nobody has written yet. A
 * document with several leaves is in conflict; CouchDB shows one of them, the winner.
 */
export type LeafRevision = StoredDocument;

/** A document to be written, which may be new; without `_deleted` its whole content. */
export type NewDraft = {
  readonly _id: string;
  readonly _rev?: string;
  readonly [key: string]: unknown;
};

/** Sorts leaves in CouchDB's order: the longest history first, then the highest hash. */
export function winnerFirst(leaves: readonly LeafRevision[]): readonly LeafRevision[] {
  return [...leaves].sort((a, b) => {
    const [one, other] = [placeOf(a), placeOf(b)];
    if (one.generation !== other.generation) return other.generation - one.generation;
    return one.hash < other.hash ? 1 : -1;
  });
}

function placeOf({ _rev: rev }: LeafRevision): {
  readonly generation: number;
  readonly hash: string;
} {
  return { generation: Number.parseInt(rev, 10), hash: rev.slice(rev.indexOf('-') + 1) };
}

/** The attempts in a document, whatever it is; what is none is left out. */
export function stepsIn({ steps }: LeafRevision): readonly Step[] {
  const list: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return list.filter((step): step is Step => typeof step === 'object' && step !== null);
}

/** The newest record of the attempt that a claim names. */
export function stepOf(leaf: LeafRevision, claim: unknown): Step | undefined {
  if (typeof claim !== 'string') return undefined;
  return stepsIn(leaf).findLast((step) => step['claim'] === claim);
}

/** Whether the job is final. */
export function isOver({ state }: LeafRevision): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

/** Whether the step at a path is done. */
export function isDone(steps: readonly Step[], path: string): boolean {
  const last = steps.findLast((step) => step.path === path);
  return last?.state === '$$complete' || last?.state === '$$skipped';
}

/** Whether a claim stands in a document and its attempt has not ended. */
export function holds(leaf: LeafRevision, claim: string): boolean {
  const step = stepOf(leaf, claim);
  return step !== undefined && isLive(step);
}

type Attachments = Readonly<Record<string, { readonly from?: unknown } | undefined>>;

function attachmentsOf({ _attachments: attachments }: NewDraft): Attachments {
  return (attachments ?? {}) as Attachments;
}

/**
 * The document with the large results of its steps that only the other leaf keeps. An attachment of
 * another revision is named by it (`from`): whoever writes the document has to take it over.
 */
export function withResultsOf(leaf: LeafRevision, other: LeafRevision): LeafRevision {
  const names = stepsIn(leaf).map((step) => attachmentOf(step));
  return withAttachmentsOf(
    leaf,
    other,
    names.filter((name) => name !== undefined),
  );
}

/** The document with those of these attachments that only the other leaf keeps. */
export function withAttachmentsOf(
  leaf: LeafRevision,
  other: LeafRevision,
  names: readonly string[],
): LeafRevision {
  const [own, others] = [attachmentsOf(leaf), attachmentsOf(other)];
  const missed = names.filter((name) => own[name] === undefined && others[name] !== undefined);
  if (missed.length === 0) return leaf;
  const taken = missed.map((name) => [name, { from: other._rev, ...others[name] }] as const);
  return { ...leaf, _attachments: { ...own, ...Object.fromEntries(taken) } };
}

/** The attachments that a document takes over from another revision. */
export function borrowedIn(
  leaf: NewDraft,
): readonly { readonly name: string; readonly from: string }[] {
  return Object.entries(attachmentsOf(leaf)).flatMap(([name, one]) =>
    typeof one?.from === 'string' ? [{ name, from: one.from }] : [],
  );
}
