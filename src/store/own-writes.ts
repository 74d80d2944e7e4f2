import { createLru } from '../memo.js';
import type { StoredDocument } from '../model/document.js';

/** A document that this process wrote, by its revision; undefined: it did not, or it is no longer known. */
export type OwnWrite = (id: string, rev: string) => StoredDocument | undefined;

/** Documents that are known at most: what was written comes back by the feed a moment later. */
const mostKnown = 500;

/** What this process wrote a moment ago: of what the feed brings of it nothing need be read but id and revision. */
export function createOwnWrites(): {
  readonly note: (doc: StoredDocument) => void;
  /** Finds a document, and forgets it. */
  readonly take: OwnWrite;
} {
  const written = createLru<StoredDocument>(mostKnown);
  return {
    note: (doc) => {
      // The feed has stubs in place of attachments.
      if (doc['_attachments'] === undefined) written.set(doc._id, doc);
    },
    take: (id, rev) => {
      const doc = written.get(id);
      if (doc?._rev !== rev) return undefined;
      written.delete(id);
      return doc;
    },
  };
}
