import type { Job } from '../model/job.js';
import { parseDocument, type Parsed, type StoredDocument } from '../model/parse.js';
import { withoutHeldUp } from './held-up.js';

/** What documents mean. A version is read once, and one of our own making not at all. */
export type Reading = {
  readonly read: (doc: StoredDocument) => Parsed;
  /** The document is our own: `job` was written as it. */
  readonly know: (doc: StoredDocument, job: Job) => void;
};

export function createReading(): Reading {
  const known = new WeakMap<StoredDocument, Parsed>();
  return {
    read: (doc) => {
      const before = known.get(doc);
      if (before !== undefined) return before;
      const parsed = parseDocument(withoutHeldUp(doc));
      known.set(doc, parsed);
      return parsed;
    },
    know: (doc, job) => void known.set(doc, { kind: 'job', ok: true, value: job }),
  };
}
