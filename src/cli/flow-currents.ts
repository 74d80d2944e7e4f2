import { addTo } from '../model/grouped.js';
import type { StoredDocument } from '../model/document.js';
import { chooseVersion } from '../model/flow-versions.js';
import { keyOf, ownerOf } from '../model/task.js';

/** Tells the flows apart that are the current one of several versions. */
export function currentAmongOthers(
  flows: readonly StoredDocument[],
): (doc: StoredDocument) => boolean {
  const current = new Set(
    [...byFlow(flows).values()].flatMap((docs) => {
      const choice = docs.length > 1 ? chooseVersion(docs) : undefined;
      return choice?.kind === 'chosen' ? [choice.doc._id] : [];
    }),
  );
  return ({ _id }) => current.has(_id);
}

/** The documents as a word means them: of each flow only the current version, where there is one. */
export function withoutOtherVersions(docs: readonly StoredDocument[]): readonly StoredDocument[] {
  const flows = byFlow(docs.filter(({ type }) => type === 'flow'));
  const others = new Set(
    [...flows.values()].flatMap((same) => {
      const choice = chooseVersion(same);
      return choice.kind === 'chosen' ? same.filter((doc) => doc !== choice.doc) : [];
    }),
  );
  return docs.filter((doc) => !others.has(doc));
}

function byFlow(flows: readonly StoredDocument[]): ReadonlyMap<string, readonly StoredDocument[]> {
  const found = new Map<string, StoredDocument[]>();
  for (const doc of flows) {
    const key = keyOf(String(doc['name']), ownerOf(doc));
    addTo(found, key, doc);
  }
  return found;
}
