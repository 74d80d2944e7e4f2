import { report, type Report } from '../../decide/finish/report.js';
import type { StoredDocument } from '../../model/document.js';
import type { LiveStep } from '../../model/step.js';
import { roomForResults, writeJob, type WriteParts } from '../loop/write-job.js';

/** A report that meets so many other writes leaves it to the next one. */
const mostTries = 5;

/**
 * Writes a report of a running attempt into its step. A lost race is computed anew on the newer
 * revision; whatever cannot be written is carried by the next report, or by the end of the attempt.
 * Answers the document that has to be looked at next: what it was written upon may not have been.
 */
export async function writeReport(
  parts: WriteParts,
  id: string,
  { claim }: LiveStep,
  given: Report,
): Promise<StoredDocument | undefined> {
  const { store, serializer, parsedJobs, now, log, life, documentLimit } = parts;
  // The room for the end of the job is not for reports.
  const mostBytes = roomForResults(documentLimit);
  try {
    for (let tries = 0; tries < mostTries && !life.signal.aborted; tries += 1) {
      const doc = (tries === 0 ? serializer.documents.get(id) : undefined) ?? (await store.get(id));
      if (doc === undefined) return undefined;
      const parsed = await parsedJobs.read(doc);
      if (parsed.kind !== 'job' || !parsed.ok) return undefined;
      const reported = report(parsed.value, claim, given, now());
      if (reported.kind === 'fenced') return undefined;
      const written = await writeJob(parts, { job: reported.job, unconfirmed: true, mostBytes });
      if (written.kind === 'written') return written.doc;
      if (written.kind !== 'lost' || written.cause !== undefined) break;
    }
    log.debug({ job: id }, 'A report was not stored.');
  } catch (error) {
    log.debug({ job: id, error: String(error) }, 'A report was not stored.');
  }
  return undefined;
}
