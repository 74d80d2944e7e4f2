import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import {
  isSubjectReference,
  sensitiveDatabases,
  sensitiveRole,
  valuesProblem,
} from '../model/sensitive.js';
import { ownerOf } from '../model/task.js';
import type { Keyring } from '../secrets/keyring.js';
import { subjectReference } from '../secrets/subject-keys.js';
import type { Connection } from '../store/connection.js';
import { createClosedDatabase } from '../store/sensitive-databases.js';
import { openStore } from '../store/store.js';
import { readAccesses, recordAccess, type Accessor, type AccessFilter } from './accesses.js';
import { referencesKey, rotateKeys, type Rotated } from './keys.js';
import type { SubjectOf, VaultParts } from './parts.js';
import { purgeSubjects, type Purging } from './purge.js';
import { sensitiveRules } from './rules.js';
import {
  listSubjects,
  openValues,
  sealValues,
  type ClearValues,
  type SubjectFacts,
} from './values.js';

export type { Accessor, AccessFilter } from './accesses.js';
export type { SubjectOf } from './parts.js';
export type { SubjectFacts } from './values.js';

/** Who is given values, and why. */
export type AccessAsked = SubjectOf & Accessor & { readonly names: readonly string[] };

/**
 * The sensitive values of one database. All functions throw the TwsErrors of the store; where the databases are not
 * there or closed to us, `sensitive_missing` or `sensitive_closed`.
 */
export type Vault = {
  /** Creates the two databases, or what is missing of them. */
  readonly prepare: () => Promise<Readonly<Record<'values' | 'keys', 'created' | 'exists'>>>;
  /** What stands for a subject in jobs. */
  readonly reference: (owner: string, subject: string) => Promise<string>;
  /** The subject that is meant: in clear, or its reference. */
  readonly subjectOf: (owner: string, given: string) => Promise<SubjectOf>;
  /**
   * Stores values, beside those that the subject has, after that is on record; `given`: the subject in clear, or
   * its reference if it has values of this owner. Without `by` it is not on record. `retain`: how long the values of
   * the subject stay, ms; absent: as before.
   * @throws TwsError `sensitive_invalid`, `sensitive_reference_unknown`
   */
  readonly put: (
    owner: string,
    given: string,
    values: ClearValues,
    by?: Accessor & { readonly retain?: number | undefined },
  ) => Promise<SubjectOf>;
  /** Opens a value for an attempt; undefined: it is not stored, or was purged. */
  readonly open: (of: SubjectOf, name: string) => Promise<string | undefined>;
  /** Opens values for somebody, after the access is on record; those that are not there are left out. */
  readonly read: (asking: AccessAsked) => Promise<ClearValues>;
  /** All subjects; `owners`: of these only. */
  readonly list: (owners?: readonly string[]) => Promise<readonly SubjectFacts[]>;
  /** The records of accesses, the oldest first. */
  readonly accesses: (filter?: AccessFilter) => Promise<readonly StoredDocument[]>;
  /**
   * Destroys the keys of subjects of these owners, and their values; resolves with those that there were. `isDue`: what
   * was stored anew meanwhile stays where that says no.
   * @throws TwsError `sensitive_purge_refused`
   */
  readonly purge: (subjects: readonly SubjectOf[], by: Purging) => Promise<readonly SubjectOf[]>;
  /** Encrypts the keys of all subjects with the first key; those that cannot be read are left as they are, and told. */
  readonly rotate: () => Promise<Rotated>;
  readonly close: () => Promise<void>;
};

/** Opens the sensitive values beside a database; nothing is sent before the first request. */
export function openVault(
  connection: Connection,
  keyring: Keyring,
  now: () => number = Date.now,
): Vault {
  const names = sensitiveDatabases(connection.database);
  const at = {
    values: { ...connection, database: names.values },
    keys: { ...connection, database: names.keys },
  };
  const values = openStore(at.values);
  const keys = openStore(at.keys);
  const parts: VaultParts = { values, keys, keyring, now };
  const members = { roles: [sensitiveRole] };
  const ready = whenSetUp(names.values);
  let references: Promise<Buffer> | undefined;
  const reference: Vault['reference'] = async (owner, subject) => {
    references ??= ready(() => referencesKey(parts)).catch((error: unknown) => {
      references = undefined;
      throw error;
    });
    return subjectReference(await references, owner, subject);
  };
  const subjectOf: Vault['subjectOf'] = async (owner, given) => {
    return { owner, subject: isSubjectReference(given) ? given : await reference(owner, given) };
  };
  return {
    prepare: async () => ({
      values: await createClosedDatabase(at.values, members, sensitiveRules()),
      keys: await createClosedDatabase(at.keys, members),
    }),
    reference,
    subjectOf,
    put: (owner, given, clear, by) =>
      ready(async () => {
        const wrong = valuesProblem(clear);
        if (wrong !== undefined) throw problem('sensitive_invalid', { reason: wrong });
        if (isSubjectReference(given)) await assertKnown(parts, { owner, subject: given });
        const of = await subjectOf(owner, given);
        const asked = { ...of, names: Object.keys(clear) };
        if (by !== undefined) await recordAccess(parts, { ...asked, ...by }, 'put');
        await sealValues(parts, of, clear, by?.retain);
        return of;
      }),
    open: (of, name) => ready(async () => (await openValues(parts, of, [name]))[name]),
    read: (asking) =>
      ready(async () => {
        // It is on record before anything is opened.
        await recordAccess(parts, asking, 'get');
        return openValues(parts, asking, asking.names);
      }),
    list: (owners) => ready(() => listSubjects(parts, owners)),
    accesses: (filter = {}) => ready(() => readAccesses(parts, filter)),
    purge: (subjects, by) => ready(() => purgeSubjects(parts, at, subjects, by)),
    rotate: () => ready(() => rotateKeys(parts)),
    close: async () => {
      await Promise.all([values.close(), keys.close()]);
    },
  };
}

/**
 * A reference does not tell whose it is: only the owner under whom values are stored is believed, so that no key is
 * made for another one.
 */
async function assertKnown({ keys }: VaultParts, { owner, subject }: SubjectOf): Promise<void> {
  const doc = await keys.get(subject);
  if (doc !== undefined && ownerOf(doc) === owner) return;
  throw problem('sensitive_reference_unknown', { subject, owner });
}

/** Runs what needs the databases, and says so when they are missing or closed to us. */
function whenSetUp(database: string) {
  return async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      const code = error instanceof TwsError ? error.code : undefined;
      if (code === 'database_missing') throw problem('sensitive_missing', { database });
      if (code === 'couch_forbidden') throw problem('sensitive_closed', { database });
      throw error;
    }
  };
}
