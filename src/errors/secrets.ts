import { row } from './row.js';

/** Rows about encrypted values. */
export const secretProblems = {
  crypto_key_missing: row(
    (d?: { where?: string | undefined }) =>
      d?.where === undefined
        ? 'TWS_CRYPTO_KEY is not set.'
        : `${d.where} holds an encrypted value, but TWS_CRYPTO_KEY is not set.`,
    'Set it, where this runs, to the key with which the values were encrypted (for a first value: any long random text).',
    78,
    503,
  ),
  secret_unreadable: row(
    (d: { where: string }) =>
      `${d.where} cannot be decrypted: it was encrypted with another key, or it was changed.`,
    'Check TWS_CRYPTO_KEY, or encrypt the value again with `tws encrypt`.',
    78,
    422,
  ),
  secret_older: row(
    (d: { where: string }) =>
      `${d.where} is encrypted in the format of an earlier project (salt:cipher), which cannot be read.`,
    'Encrypt the value anew with `tws encrypt`.',
    78,
    422,
  ),
} as const;
