import { row } from './row.js';

/** Where a key or a setting is needed: the sentence may stand alone in a job document. */
const place = 'in the environment of `tws start` or `tws dev`';

/** Rows about encrypted values. */
export const secretProblems = {
  crypto_key_missing: row(
    (d?: { where?: string | undefined }) =>
      d?.where === undefined
        ? 'TWS_CRYPTO_KEY is not set in the environment of this command.'
        : `${d.where} is encrypted, but TWS_CRYPTO_KEY is not set ${place}: set it there to the key of the encrypted values.`,
    'For example `export TWS_CRYPTO_KEY=…` before the command; for a first value any long random text will do, which you must keep.',
    78,
    503,
  ),
  secret_unreadable: row(
    (d: { where: string }) =>
      `${d.where} cannot be decrypted: it was encrypted with another key than TWS_CRYPTO_KEY, or it was changed.`,
    'Set TWS_CRYPTO_KEY to the key it was encrypted with, or encrypt the value again with `tws encrypt`.',
    78,
    422,
  ),
  secret_other_key: row(
    (d: { where: string }) =>
      `${d.where} cannot be decrypted: none of the keys in TWS_CRYPTO_KEY is the one that it was encrypted with.`,
    'Add that key to the list in TWS_CRYPTO_KEY (`["new", "old"]`), or encrypt the value again with `tws encrypt`.',
    78,
    422,
  ),
  secret_bound: row(
    (d: { where: string }) =>
      `${d.where} cannot be decrypted: the value was encrypted for another owner, document or field, or it was changed.`,
    'Encrypted values cannot be copied or moved, and their documents not renamed: encrypt the value for its place with `tws encrypt --for … --field …`.',
    78,
    422,
  ),
  secret_gone: row(
    (d: { kind: string; name: string; owner: string; field: string }) =>
      `The secret ${d.field} of ${d.kind} "${d.name}" (owner ${d.owner}) is gone: there is no encrypted value there now.`,
    'Put it back into the document, or retry the job with the latest definitions.',
    78,
    422,
  ),
  named_secret_missing: row(
    (d: { where: string; secret: string; owner: string }) =>
      `${d.where} names the secret "${d.secret}", which owner ${d.owner} does not have: store it with \`tws secret set ${d.secret.replace('.', ' ')}\`, and retry the job.`,
    'Store the secret under this name and owner, or name another one in the document.',
    78,
    422,
  ),
  named_secret_unfit: row(
    (d: { where: string; secret: string; owner: string }) =>
      `${d.where} names the secret "${d.secret}" of owner ${d.owner}, whose document is not encrypted there or has another type, name or owner: store it again with \`tws secret set ${d.secret.replace('.', ' ')}\`.`,
    'Values in plain text are never read from a secret; one that was stored so should be changed at its server, too.',
    78,
    422,
  ),
  secret_absent: row(
    (d: { secret: string; owner: string }) => `Owner ${d.owner} has no secret "${d.secret}".`,
    'Run `tws secret list` to see the names; --owner chooses whose secrets are meant.',
    3,
    404,
  ),
  sensitive_invalid: row(
    (d: { reason: string }) => `The sensitive values cannot be stored: ${d.reason}.`,
    'Give texts by name, for example {"iban": "…"}.',
    3,
    422,
  ),
  sensitive_missing: row(
    (d: { database: string }) =>
      `Sensitive values are not set up: there is no database "${d.database}".`,
    'Have a server admin run `tws init --sensitive`.',
    69,
    404,
  ),
  sensitive_reference_unknown: row(
    (d: { subject: string; owner: string }) =>
      `Owner ${d.owner} has no sensitive values under the reference ${d.subject}: name the subject itself.`,
    'A reference does not tell whose it is; it can be used again once values of its subject are stored.',
    3,
    422,
  ),
  sensitive_refused: row(
    (d: { who: string }) =>
      `${d.who} may not do this: sensitive values are for signed-in users of the database with the role tws-sensitive.`,
    'Sign in with name and password (POST /_tws/session) as a user who has the role; tokens cannot have it.',
    77,
    403,
  ),
  sensitive_in_clear: row(
    (_: Readonly<Record<string, never>>) =>
      'Sensitive values do not go over plain HTTP: use HTTPS, or ask from this machine.',
    'Set "http": {"tls": …} in tws.json, or name a proxy with HTTPS in "trust_proxy", which sends "x-forwarded-proto: https".',
    77,
    403,
  ),
  sensitive_purge_refused: row(
    (_: Readonly<Record<string, never>>) =>
      'Nothing was purged: CouchDB lets only a server admin purge, and the user of this process is none.',
    'Run `tws sensitive purge` with COUCH_USER and COUCH_PASS of a server admin.',
    77,
    502,
  ),
  sensitive_closed: row(
    (d: { database: string }) =>
      `CouchDB does not let the user of this process into database "${d.database}".`,
    'Give the user the role tws-sensitive, or set COUCH_USER and COUCH_PASS to one who has it.',
    77,
    502,
  ),
  sensitive_absent: row(
    (d: { name: string; owner: string }) =>
      `The subject has no value "${d.name}" of owner ${d.owner}, or it was purged.`,
    'Run `tws sensitive list` to see the subjects and the names of their values.',
    3,
    404,
  ),
  sensitive_unset: row(
    (d: { where: string }) =>
      `${d.where} names a sensitive value, and this engine does not open any: start it with \`tws start\`, with TWS_CRYPTO_KEY set.`,
    'Sensitive values are opened by engines that `tws start` and `tws dev` run.',
    78,
    422,
  ),
  sensitive_unlisted: row(
    (d: { where: string; name: string }) =>
      `${d.where} names the sensitive value "${d.name}", which "sensitive" of the stored task does not list.`,
    'List the name in "sensitive" of the task.',
    3,
    422,
  ),
  sensitive_subject_missing: row(
    (d: { where: string; name: string }) =>
      `${d.where} names the sensitive value "${d.name}", and the job has no "subject" that is a reference: submit it with the reference that \`tws sensitive put\` printed.`,
    'Give the job "subject": "s-…".',
    3,
    422,
  ),
  sensitive_gone: row(
    (d: { where: string; name: string; subject: string; owner: string }) =>
      `${d.where} needs the sensitive value "${d.name}" of subject ${d.subject} (owner ${d.owner}), which was purged or never stored: store it with \`tws sensitive put\`, and retry the job.`,
    'What was purged cannot be read again.',
    3,
    422,
  ),
  secrets_left: row(
    (d: { documents: number }) =>
      `The encrypted values of ${d.documents} ${d.documents === 1 ? 'document' : 'documents'} were left as they are.`,
    'Correct what is named above, and run the command again: it goes on with what is left.',
    3,
    422,
  ),
  secret_not_encrypted: row(
    (_: Readonly<Record<string, never>>) =>
      'The value is not encrypted: what `tws encrypt` makes begins with tws:v.',
    'Give the whole text that `tws encrypt` printed.',
    3,
    422,
  ),
  secret_older: row(
    (d: { where: string }) =>
      `${d.where} is encrypted in the format of an earlier project (salt:cipher): say how in "secrets": {"older": {"cipher": …, "kdf": …}} of tws.json, or encrypt it again with \`tws encrypt\`.`,
    'The keys of secrets.older are described in couch/schemas/tws.json.',
    78,
    422,
  ),
  secret_older_unreadable: row(
    (d: { where: string; cipher: string; kdf: string }) =>
      `${d.where} cannot be decrypted: TWS_CRYPTO_KEY or secrets.older of tws.json (${d.cipher}, ${d.kdf}) is not what it was encrypted with.`,
    'Correct the key or the settings, or encrypt the value again with `tws encrypt`.',
    78,
    422,
  ),
  stored_without_key: row(
    (d: { documents: string }) =>
      `There are encrypted values in ${d.documents}, but TWS_CRYPTO_KEY is not set: steps that need them fail.`,
    'Set TWS_CRYPTO_KEY in the environment of this command to the key of these values, and start it again.',
    78,
    503,
  ),
  stored_with_other_key: row(
    (d: { documents: string }) =>
      `TWS_CRYPTO_KEY does not open the encrypted values in ${d.documents}: steps that need them fail.`,
    'Set TWS_CRYPTO_KEY in the environment of this command to the key they were encrypted with and start it again, or encrypt them again with `tws encrypt`.',
    78,
    422,
  ),
  stored_older: row(
    (d: { documents: string }) =>
      `There are values in the format of an earlier project (salt:cipher) in ${d.documents}: steps that need them fail.`,
    'Say how they were encrypted in secrets.older of tws.json (described in couch/schemas/tws.json), or encrypt them again with `tws encrypt`.',
    78,
    422,
  ),
} as const;
