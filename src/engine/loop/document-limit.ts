import { failure } from '../../model/failures.js';
import type { Failure } from '../../model/step.js';

/** How long a document may be, bytes; known once the database was asked. */
export type DocumentLimit = { bytes: number };

/** The part of the limit that results may fill; the rest is for the end of the job. */
const forResults = 0.9;

/** So long a job may become by results. */
export function roomForResults({ bytes }: DocumentLimit): number {
  return bytes * forResults;
}

/** Why a job is not stored as it would go on. `bytes`: its length, when that is the reason. */
export function refusalOf(
  { bytes: limit }: DocumentLimit,
  { reason, bytes }: { readonly reason: string; readonly bytes?: number },
): Failure {
  return bytes === undefined
    ? failure('StoreRefused', { reason })
    : failure('JobTooLarge', { bytes, limit });
}
