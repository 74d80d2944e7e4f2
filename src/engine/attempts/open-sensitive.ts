import { problem, TwsError } from '../../errors.js';
import { isSubjectReference } from '../../model/sensitive.js';
import { isUnreadableValue } from '../../secrets/keyring.js';
import type { Retry } from '../retry.js';

/**
 * Opens a sensitive value of a subject (its reference), in clear; undefined: it is not stored, or was purged.
 * Rejects with a TwsError.
 */
export type SensitiveValues = {
  readonly open: (
    of: { readonly owner: string; readonly subject: string },
    name: string,
  ) => Promise<string | undefined>;
};

/** Which value, for which parameter of which document. */
export type SensitiveWanted = {
  readonly owner: string;
  readonly subject: unknown;
  readonly name: string;
  /** The parameter, for people. */
  readonly where: string;
};

/**
 * Opens a sensitive value; undefined: the engine ends first. Rejects with a TwsError when there is none, or nothing
 * that could open it; while the database does not answer, it waits.
 */
export type OpenSensitive = (wanted: SensitiveWanted) => Promise<string | undefined>;

export function openSensitive(retry: Retry, source: SensitiveValues | undefined): OpenSensitive {
  return async ({ owner, subject, name, where }) => {
    if (!isSubjectReference(subject)) throw problem('sensitive_subject_missing', { where, name });
    if (source === undefined) throw problem('sensitive_unset', { where });
    const of = { owner, subject };
    const found = await retry(async () => ({ value: await source.open(of, name) }), isFinal);
    if (found !== undefined && found.value === undefined) {
      throw problem('sensitive_gone', { where, name, subject, owner });
    }
    return found?.value;
  };
}

/** Waiting does not mend it: somebody has to set it up, or to give a role or a key. */
function isFinal(error: unknown): boolean {
  return isUnreadableValue(error) || (error instanceof TwsError && final.has(error.code));
}

const final: ReadonlySet<string> = new Set([
  'sensitive_missing',
  'sensitive_closed',
  'crypto_key_missing',
]);
