import { report, type Report } from '../decide/report.js';
import { parseDocument } from '../model/parse.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { LiveStep } from '../model/step.js';
import type { JobParts } from './jobs.js';

/** A report that meets so many other writes leaves it to the next one. */
const mostTries = 5;

/**
 * Writes what a running attempt told into its step. A lost race is computed anew on the newer
 * revision; whatever cannot be written is carried by the next report, or by the end of the attempt.
 */
export async function writeReport(
  parts: Pick<JobParts, 'store' | 'desk' | 'now' | 'log' | 'life'>,
  id: string,
  { claim }: LiveStep,
  told: Report,
): Promise<void> {
  const { store, desk, now, log, life } = parts;
  try {
    for (let tries = 0; tries < mostTries && !life.signal.aborted; tries += 1) {
      const doc = (tries === 0 ? desk.newest(id) : undefined) ?? (await store.get(id));
      if (doc === undefined) return;
      const parsed = parseDocument(doc);
      if (parsed.kind !== 'job' || !parsed.ok) return;
      const reported = report(parsed.value, claim, told, now());
      if (reported.kind === 'fenced') return;
      const next = inReadingOrder(reported.job);
      const result = await store.write(next);
      if (result.kind === 'written') return desk.putOwn({ ...next, _rev: result.rev });
      if (result.kind !== 'conflict') return log.debug({ job: id }, 'A report was not stored.');
    }
  } catch (error) {
    log.debug({ job: id, error: String(error) }, 'A report was not stored.');
  }
}
