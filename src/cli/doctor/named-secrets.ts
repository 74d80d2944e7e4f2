import type { StoredDocument } from '../../model/document.js';
import { namedSecretsIn } from '../../model/encrypted-values.js';
import { secretId, secretText, secretValue } from '../../model/named-secret.js';
import { ownerOf } from '../../model/task.js';
import { listed } from '../../words.js';
import type { DoctorFinding } from './finding.js';

/** Secrets that tasks and flows name and that are not stored, or not encrypted. */
export function namedSecretFindings(
  definitions: readonly StoredDocument[],
  secrets: readonly StoredDocument[],
): readonly DoctorFinding[] {
  const byId = new Map(secrets.map((doc) => [doc._id, doc]));
  const lacking = definitions.flatMap((doc) =>
    [...namedSecretsIn(doc)].flatMap(([field, named]) => {
      const owner = ownerOf(doc);
      const { kind } = secretValue(byId.get(secretId(owner, named.name)), owner, named);
      if (kind === 'there') return [];
      return [`"${secretText(named)}" of owner ${owner} (${field} of ${doc._id})`];
    }),
  );
  if (lacking.length === 0) return [];
  const [they, are] = lacking.length === 1 ? ['The secret', 'is'] : ['The secrets', 'are'];
  return [
    {
      what: 'named secrets',
      verdict: 'fail',
      says: `${they} ${listed(lacking)} ${are} not stored: steps that need ${lacking.length === 1 ? 'it' : 'them'} fail.`,
      todo: 'Store each with `tws secret set NAME [FIELD] --owner OWNER`.',
    },
  ];
}
