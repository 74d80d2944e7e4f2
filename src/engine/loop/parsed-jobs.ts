import type { Job } from '../../model/job.js';
import { parseInPieces, type Parsed } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { takeTurns } from '../../turns.js';
import { blockedEnginesKey, withoutBlockedEngines } from '../watch/blocked-engines.js';
import { withCurrentJob, type OnDecide } from '../watch/blocking.js';

/** What documents mean. A version is read once, and one of our own making not at all. */
export type ParsedJobs = {
  /** Reads a document piece by piece; the event loop goes on in between. */
  readonly read: (doc: StoredDocument) => Promise<Parsed>;
  /** The document is our own: `job` was written as it. */
  readonly know: (doc: StoredDocument, job: Job) => void;
  /** The documents that are our own: what is in them was decided here. */
  readonly own: Pick<WeakSet<StoredDocument>, 'has'>;
};

export function createParsedJobs(onDecide?: OnDecide): ParsedJobs {
  const known = new WeakMap<StoredDocument, Parsed>();
  const own = new WeakSet<StoredDocument>();
  return {
    read: async (doc) => {
      const before = known.get(doc);
      if (before !== undefined) return before;
      const given = blockedEnginesKey in doc ? withoutBlockedEngines(doc) : doc;
      const parsed = await parseInTurns(given, onDecide);
      known.set(doc, parsed);
      return parsed;
    },
    know: (doc, job) => {
      known.set(doc, { kind: 'job', ok: true, value: job });
      own.add(doc);
    },
    own,
  };
}

/** Reads a document that may be long. */
export function parseInTurns(doc: StoredDocument, onDecide?: OnDecide): Promise<Parsed> {
  return takeTurns(parseInPieces(doc), (piece) => withCurrentJob(onDecide, doc._id, piece));
}
