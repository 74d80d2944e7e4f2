import { problem } from '../../errors.js';
import { encryptedIn } from '../../model/encrypted-values.js';
import type { LiveJob } from '../../model/job.js';
import { keysOf, readReference, type SecretReference } from '../../model/secret-reference.js';
import type { LiveStep } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import type { Keyring } from '../../secrets/keyring.js';
import type { Library } from '../loop/library.js';

type Json = Record<string, unknown>;

/** Parameters in clear for the plugin, and the texts that nothing may show from now on. */
export type OpenedSecrets = { readonly params: Json; readonly clear: readonly string[] };

/** Opens the secrets of an attempt. Rejects with a TwsError that names the document and the field. */
export type OpenSecrets = (job: LiveJob, step: LiveStep) => Promise<OpenedSecrets>;

/** Follows the references that the decision found to count, to the values that are stored now. */
export function createOpenSecrets(library: Pick<Library, 'stored'>, keyring: Keyring): OpenSecrets {
  return async (job, step) => {
    const clear: string[] = [];
    let params: unknown = step.params;
    for (const field of fieldsOf(step)) {
      const keys = keysOf(field);
      const reference = readReference(valueAt(params, keys));
      if (reference === undefined || !isFor(reference, job, step, field)) continue;
      const { kind, name, owner } = reference;
      const text = encryptedIn(library.stored(kind, name, owner)).get(reference.field);
      if (text === undefined) throw problem('secret_gone', { ...reference });
      const value = await keyring.decrypt(text, reference);
      clear.push(value);
      params = withValue(params, keys, value);
    }
    return { params: { ...(params as Json | undefined) }, clear };
  };
}

function fieldsOf(step: LiveStep): readonly string[] {
  const { secrets } = step as { readonly secrets?: unknown };
  return Array.isArray(secrets) ? secrets.map(String) : [];
}

/** The decision has found that out; a mistake in it must not hand a secret to another plugin. */
function isFor(
  { kind, name, owner, field }: SecretReference,
  job: LiveJob,
  step: LiveStep,
  at: string,
): boolean {
  if (owner !== job.owner && owner !== defaultOwner) return false;
  return kind === 'flow'
    ? field.endsWith(`.${at}`)
    : name === step.task && field === `params.${at}`;
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key)
        ? (at as Json)[key]
        : undefined,
    value,
  );
}

function withValue(root: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(root)) {
    return root.map((item: unknown, i) =>
      String(i) === key ? withValue(item, rest, value) : item,
    );
  }
  return { ...(root as Json), [key]: withValue((root as Json)[key], rest, value) };
}
