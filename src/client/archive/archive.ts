import { z } from 'zod';
import { endedStatuses } from '../../model/retain.js';
import type { Known } from '../../model/scalars.js';
import type { DocumentCopy } from '../../store/copies.js';

/**
 * What is known of an archived job without reading it. `start`, `end`: epoch ms; `documents`: number of
 * documents, those of the job and of all that goes with it.
 */
export const archivedFactsSchema = z.looseObject({
  job: z.string(),
  flow: z.string(),
  owner: z.string(),
  status: z.enum(endedStatuses),
  start: z.number().nullable(),
  end: z.number(),
  documents: z.int().min(1),
});
export type ArchivedFacts = Known<z.infer<typeof archivedFactsSchema>>;

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
  /**
   * All families, or those of one job, in no order; one that was archived twice is there twice.
   * @throws TwsError `archive_failed`
   */
  readonly entries: (job?: string) => AsyncIterable<ArchiveEntry>;
  readonly close: () => Promise<void>;
};
