import type { Job } from '../../model/job.js';
import { parseInPieces, type Parsed } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { takeTurns } from '../../turns.js';
import { withoutBlockedEngines } from '../watch/blocked-engines.js';
import { withCurrentJob, type OnDecide } from '../watch/current-job.js';

/** What documents mean. A version is read once, and one of our own making not at all. */
export type ParsedJobs = {
  /** Reads a document piece by piece; the event loop goes on in between. */
  readonly read: (doc: StoredDocument) => Promise<Parsed>;
  /** The document is our own: `job` was written as it. */
  readonly know: (doc: StoredDocument, job: Job) => void;
  /** Whether the document is our own: what is in it was decided here. */
  readonly isOwn: (doc: StoredDocument) => boolean;
};

export function createParsedJobs(onDecide?: OnDecide): ParsedJobs {
  const known = new WeakMap<StoredDocument, { readonly parsed: Parsed; readonly isOwn: boolean }>();
  return {
    read: async (doc) => {
      const before = known.get(doc);
      if (before !== undefined) return before.parsed;
      const parsed = await parseInTurns(withoutBlockedEngines(doc), onDecide);
      known.set(doc, { parsed, isOwn: false });
      return parsed;
    },
    know: (doc, job) => {
      known.set(doc, { parsed: { kind: 'job', ok: true, value: job }, isOwn: true });
    },
    isOwn: (doc) => known.get(doc)?.isOwn === true,
  };
}

/** Reads a document that may be long. */
export function parseInTurns(doc: StoredDocument, onDecide?: OnDecide): Promise<Parsed> {
  return takeTurns(parseInPieces(doc), (piece) => withCurrentJob(onDecide, doc._id, piece));
}
