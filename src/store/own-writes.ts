import { createLru } from '../memo.js';
import type { StoredDocument } from '../model/document.js';

/** What this process wrote last of a document; undefined: nothing, or it is no longer known. */
export type OwnWrite = (id: string) => StoredDocument | undefined;

/** Documents that are known at most: what was written comes back by the feed a moment later. */
const mostKnown = 1_000;
/** They are shorter, in characters. */
const longestKnown = 16_384;

/** What this process wrote a moment ago: of what feeds bring of it nothing need be read but id and revision. */
export function createOwnWrites(): {
  /** Tells of a write; undefined: the document is deleted. */
  readonly note: (id: string, doc: StoredDocument | undefined) => void;
  readonly of: OwnWrite;
} {
  const written = createLru<StoredDocument>(mostKnown);
  return {
    note: (id, doc) => {
      // The feed has stubs in place of attachments.
      const isPlain = doc !== undefined && doc['_attachments'] === undefined;
      if (isPlain && JSON.stringify(doc).length <= longestKnown) written.set(id, doc);
      else written.delete(id);
    },
    of: (id) => written.get(id),
  };
}
