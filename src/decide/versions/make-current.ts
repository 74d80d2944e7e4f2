import type { StoredDocument } from '../../model/document.js';
import { chooseVersion, currentSince, isMarkedCurrent } from '../../model/flow-versions.js';
import { without } from '../../model/record.js';

/**
 * What is written, in this order, so that a version of a flow is the current one.
 *
 * FV4 After each of the writes exactly one document is current: the one before, or the one that is wanted, provided that
 *    one was before. A reader that sees some of them sees what one of these moments was.
 * FV5 The document that was current keeps `current_since` and `current_by`: a rollback finds it, and people see who
 *    made it current.
 */
export function makeCurrent(
  docs: readonly StoredDocument[],
  target: string,
  { now, by }: { readonly now: number; readonly by?: string | undefined },
): readonly StoredDocument[] {
  const choice = chooseVersion(docs);
  const before = choice.kind === 'chosen' ? choice.doc : undefined;
  const wanted = docs.find(({ _id }) => _id === target);
  if (wanted === undefined || before?._id === target) return [];
  const at = Math.max(now, ...docs.map((doc) => (currentSince(doc) ?? 0) + 1));
  const dated =
    before === undefined || currentSince(before) !== undefined
      ? []
      : [{ ...before, current_since: at }];
  const marked = docs.filter((doc) => isMarkedCurrent(doc) && doc._id !== target);
  const cleared = marked.map((doc) => {
    const last: StoredDocument = dated.find(({ _id }) => _id === doc._id) ?? doc;
    return without(last, 'current');
  });
  const said = by === undefined ? without(wanted, 'current_by') : { ...wanted, current_by: by };
  return [...dated, { ...said, current: true, current_since: at + 1 }, ...cleared];
}

/** The version that was current before; undefined: no document tells. */
export function versionBefore(docs: readonly StoredDocument[]): StoredDocument | undefined {
  const choice = chooseVersion(docs);
  const current = choice.kind === 'chosen' ? choice.doc._id : undefined;
  const others = docs.filter(({ _id }) => _id !== current);
  const dated = others.filter((doc) => currentSince(doc) !== undefined);
  const [latest] = dated.toSorted((a, b) => Number(currentSince(b)) - Number(currentSince(a)));
  return latest ?? (others.length === 1 ? others[0] : undefined);
}
