import { userInfo } from 'node:os';
import type { Config } from '../config/load.js';
import { problem, TwsError } from '../errors.js';
import { isObject } from '../model/object.js';
import { isSubjectReference } from '../model/sensitive.js';
import { ownerOf } from '../model/task.js';
import { createKeyring } from '../secrets/keyring.js';
import { openVault, type Accessor, type Vault } from '../sensitive/vault.js';
import { connectionOf } from '../client.js';
import { keyringOf } from './secrets/given.js';

/** The sensitive values of the settings. @throws TwsError `crypto_key_missing` */
export function vaultOf(config: Config): Vault {
  return openVault(connectionOf(config), keyringOf(config));
}

/** The same for an engine or the HTTP API, which open values only where somebody needs one. */
export function lateVaultOf(config: Config): Vault {
  const { cryptoKey, olderSecrets } = config;
  return openVault(connectionOf(config), createKeyring(cryptoKey, olderSecrets));
}

/** Uses and closes it. */
export async function withVault<T>(vault: Vault, use: (vault: Vault) => Promise<T>): Promise<T> {
  try {
    return await use(vault);
  } finally {
    await vault.close();
  }
}

type Job = Readonly<Record<string, unknown>>;

/**
 * Takes the sensitive values out of a job that is about to be stored, `sensitive: {subject, values}`, and puts the
 * reference of their subject in their place. @throws TwsError `sensitive_invalid`, `sensitive_missing`
 */
export async function sheltered(job: Job, config: Config): Promise<Job> {
  const { sensitive: given, ...rest } = job;
  if (given === undefined) return job;
  const { subject, values, ...others } = isObject(given) ? given : {};
  const [other] = Object.keys(others);
  if (typeof subject !== 'string' || subject === '' || !isObject(values) || other !== undefined) {
    const reason = '"sensitive" of a job must be {"subject": text, "values": {name: text}}';
    throw problem('sensitive_invalid', { reason });
  }
  if (job['subject'] !== undefined) {
    const reason = 'a job has either "subject" or "sensitive"';
    throw problem('sensitive_invalid', { reason });
  }
  const owner = ownerOf(job);
  return withVault(vaultOf(config), async (vault) => {
    const clear = values as Readonly<Record<string, string>>;
    const stored = await vault.put(owner, subject, clear, accessorOf(config));
    return { ...rest, subject: stored.subject };
  });
}

/** `subject` of a job for `--subject`, which may be in clear. @throws TwsError `sensitive_missing` */
export async function subjectGiven(
  given: string | undefined,
  job: Job,
  config: Config,
): Promise<{ readonly subject?: string }> {
  if (given === undefined) return {};
  if (isSubjectReference(given)) return { subject: given };
  const subject = await withVault(vaultOf(config), (vault) => vault.reference(ownerOf(job), given));
  return { subject };
}

/** Who uses the CLI, for the record. */
export function accessorOf({ user }: Config, why?: string): Accessor {
  return { who: user ?? userInfo().username, why };
}

/** Re-encrypts the keys of subjects; undefined: sensitive values are not set up. */
export async function rotateSubjectKeys(config: Config) {
  try {
    return await withVault(vaultOf(config), (vault) => vault.rotate());
  } catch (error) {
    if (error instanceof TwsError && error.code === 'sensitive_missing') return undefined;
    throw error;
  }
}
