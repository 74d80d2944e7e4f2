import type { EndedStatus } from '../../model/retain.js';
import type { DocumentCopy } from '../../store/copies.js';

/** What is known of an archived job without reading it. `start`, `end`: epoch ms. */
export type ArchivedFacts = {
  readonly job: string;
  readonly flow: string;
  readonly owner: string;
  readonly status: EndedStatus;
  readonly start: number | null;
  readonly end: number;
  /** Number of documents: the job and all that goes with it. */
  readonly documents: number;
};

/** A job with all that goes with it, the job first. */
export type ArchivedFamily = {
  readonly facts: ArchivedFacts;
  readonly documents: readonly DocumentCopy[];
};

/** A family as it stands in an archive; `at`: when it was archived, epoch ms. */
export type ArchiveEntry = {
  readonly facts: ArchivedFacts;
  readonly at: number;
  /** Reads its documents and compares their checksum. @throws TwsError `archive_failed` */
  readonly read: () => Promise<readonly DocumentCopy[]>;
};

/**
 * A place for jobs that are removed from the database.
 *
 * U31 `store` resolves when the families were written, read back and found equal: only then may anything of
 *    them be removed.
 * U32 What a `store` that was broken off has left is not listed, or is listed as a whole family.
 */
export type Archive = {
  /** How it is named to people. */
  readonly name: string;
  /** @throws TwsError `archive_failed` */
  readonly store: (families: readonly ArchivedFamily[], at: number) => Promise<void>;
  /** All families, in no order; one that was archived twice is there twice. @throws TwsError `archive_failed` */
  readonly entries: () => AsyncIterable<ArchiveEntry>;
  readonly close: () => Promise<void>;
};
