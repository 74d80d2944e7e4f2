import { overdueSubjects } from '../client.js';
import type { Config } from '../config/load.js';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { keptIn } from '../sensitive/values.js';
import type { SubjectFacts, Vault } from '../sensitive/vault.js';
import { counted } from '../words.js';
import { lateVaultOf, withVault } from './sensitive-values.js';

/** What a retention pass does with sensitive values. */
export type SubjectRetention = {
  /** Number of subjects whose time is over. */
  readonly due: () => Promise<number>;
  /** Destroys the keys of those subjects, by the process of this name. */
  readonly purge: (by: string) => Promise<PurgedSubjects>;
};

/** Number of subjects whose keys were destroyed, and of those that are left; `problem` says why. */
export type PurgedSubjects = {
  readonly destroyed: number;
  readonly left: number;
  readonly problem?: string;
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
    due: () => withVault(open(), async (vault) => (await overdue(vault, usualMs, now())).length),
    purge: (by) =>
      withVault(open(), async (vault) => {
        const due = await overdue(vault, usualMs, now());
        const isDue = (stored: StoredDocument): boolean =>
          overdueSubjects([keptIn(stored)], usualMs, now()).length > 0;
        let destroyed = 0;
        try {
          for (let from = 0; from < due.length; from += together) {
            const some = due.slice(from, from + together);
            destroyed += (await vault.purge(some, { who: by, why, isDue })).length;
          }
          return { destroyed, left: 0 };
        } catch (error) {
          if (!(error instanceof TwsError)) throw error;
          return { destroyed, left: due.length - destroyed, problem: error.message };
        }
      }),
  };
}

/** Why the keys of some subjects were not destroyed, as a sentence; undefined: all were. */
export function subjectsLeft({ left, problem }: PurgedSubjects): string | undefined {
  if (problem === undefined) return undefined;
  return `Sensitive values of ${counted(left, 'subject')} that are past their time could not be purged: ${problem}`;
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
