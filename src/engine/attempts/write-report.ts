import { report, type Report } from '../../decide/finish/report.js';
import type { StoredDocument } from '../../model/document.js';
import { inReadingOrder } from '../../model/reading-order.js';
import type { LiveStep } from '../../model/step.js';
import type { JobParts } from '../loop/job-parts.js';

/** A report that meets so many other writes leaves it to the next one. */
const mostTries = 5;

/**
 * Writes a report of a running attempt into its step. A lost race is computed anew on the newer
 * revision; whatever cannot be written is carried by the next report, or by the end of the attempt.
 * Answers the document that has to be looked at next: what it was written upon may not have been.
 */
export async function writeReport(
  parts: Pick<JobParts, 'store' | 'serializer' | 'parsedJobs' | 'now' | 'log' | 'life'>,
  id: string,
  { claim }: LiveStep,
  given: Report,
): Promise<StoredDocument | undefined> {
  const { store, serializer, parsedJobs, now, log, life } = parts;
  try {
    for (let tries = 0; tries < mostTries && !life.signal.aborted; tries += 1) {
      const doc = (tries === 0 ? serializer.newest(id) : undefined) ?? (await store.get(id));
      if (doc === undefined) return undefined;
      const parsed = await parsedJobs.read(doc);
      if (parsed.kind !== 'job' || !parsed.ok) return undefined;
      const reported = report(parsed.value, claim, given, now());
      if (reported.kind === 'fenced') return undefined;
      const next = inReadingOrder(reported.job);
      const result = await store.write(next);
      if (result.kind === 'written') {
        const written = { ...next, _rev: result.rev };
        serializer.putOwn(written);
        return written;
      }
      if (result.kind !== 'conflict') break;
    }
    log.debug({ job: id }, 'A report was not stored.');
  } catch (error) {
    log.debug({ job: id, error: String(error) }, 'A report was not stored.');
  }
  return undefined;
}
