import { overdueSubjects } from '../client.js';
import type { Config } from '../config/load.js';
import { TwsError } from '../errors.js';
import type { Log } from '../log.js';
import type { StoredDocument } from '../model/document.js';
import { keptIn } from '../sensitive/values.js';
import type { SubjectFacts, Vault } from '../sensitive/vault.js';
import { counted } from '../words.js';
import { lateVaultOf, withVault } from './sensitive-values.js';

/** What a retention pass does with sensitive values. */
export type SubjectRetention = {
  /** Whether the time of a subject is over. */
  readonly isDue: () => Promise<boolean>;
  /** Destroys the keys of those subjects, by the engine with this id, and tells it. */
  readonly purge: (by: string, log: Log) => Promise<void>;
};

/** Why they are purged, for the record. */
const why = 'retain';

/** So many are purged at once: their values are read before. */
const together = 500;

/** The sensitive values beside the database of the settings. */
export function subjectRetention(config: Config): SubjectRetention {
  return retentionOf(() => lateVaultOf(config), config.sensitiveRetainMs);
}

/** The same of a vault that is opened for each look, and closed after it. */
export function retentionOf(
  open: () => Vault,
  usualMs = 0,
  now: () => number = Date.now,
): SubjectRetention {
  return {
    isDue: () =>
      withVault(open(), async (vault) => (await overdue(vault, usualMs, now())).length > 0),
    purge: (by, log) =>
      withVault(open(), async (vault) => {
        const due = await overdue(vault, usualMs, now());
        if (due.length === 0) return;
        const isDue = (stored: StoredDocument): boolean =>
          overdueSubjects([keptIn(stored)], usualMs, now()).length > 0;
        let gone = 0;
        try {
          for (let from = 0; from < due.length; from += together) {
            const some = due.slice(from, from + together);
            gone += (await vault.purge(some, { who: by, why, isDue })).length;
          }
          const text = `Destroyed the keys of ${counted(gone, 'subject')} whose sensitive values are past their time.`;
          log.info({ subjects: gone }, text);
        } catch (error) {
          if (!(error instanceof TwsError)) throw error;
          const text = `Sensitive values of ${counted(due.length - gone, 'subject')} that are past their time could not be purged: ${error.message}`;
          log.warn({ subjects: due.length - gone }, text);
        }
      }),
  };
}

/** None where sensitive values are not set up, or not for this user. */
async function overdue(
  vault: Vault,
  usualMs: number,
  now: number,
): Promise<readonly SubjectFacts[]> {
  try {
    return overdueSubjects(await vault.list(), usualMs, now);
  } catch (error) {
    if (error instanceof TwsError && unset.has(error.code)) return [];
    throw error;
  }
}

const unset: ReadonlySet<string> = new Set(['sensitive_missing', 'sensitive_closed']);
