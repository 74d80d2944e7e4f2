import { problem } from '../../errors.js';
import { encryptedIn } from '../../model/encrypted-values.js';
import type { StoredDocument } from '../../model/document.js';
import type { LiveJob } from '../../model/job.js';
import { notifiesOf } from '../../model/notify.js';
import {
  readNamedSecret,
  secretId,
  secretText,
  valueField,
  secretValue,
  type NamedSecret,
} from '../../model/named-secret.js';
import { keysOf, readReference, type SecretReference } from '../../model/secret-reference.js';
import type { LiveStep } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import { wordsOf, type Keyring } from '../../secrets/keyring.js';
import { readSensitive, sensitiveNamesIn, sensitiveNamesOf } from '../../model/sensitive.js';
import type { Library } from '../loop/library.js';
import type { OpenSensitive } from './open-sensitive.js';

type Json = Record<string, unknown>;

/** A template of a parameter that reads sensitive values, and these; without `values` the text is such a value itself. */
export type SensitiveTemplate = {
  /** The keys of the parameter, which has the reference still. */
  readonly keys: readonly string[];
  readonly text: string;
  readonly values?: Readonly<Record<string, string>>;
};

/**
 * Parameters in clear for the plugin, the texts that nothing may show from now on, and the templates that are still to
 * be filled in.
 */
export type OpenedSecrets = {
  readonly params: Json;
  readonly clear: readonly string[];
  readonly templates: readonly SensitiveTemplate[];
};

/**
 * Opens the secrets of an attempt; undefined: the engine ends before they are read. Rejects with a TwsError
 * that names the document and the field.
 */
export type OpenSecrets = (job: LiveJob, step: LiveStep) => Promise<OpenedSecrets | undefined>;

export type SecretSources = {
  readonly library: Pick<Library, 'stored'>;
  readonly keyring: Keyring;
  readonly openSensitive: OpenSensitive;
  /** Reads the document of a named secret as it is now; undefined: the engine ends. */
  readonly readSecret: (
    id: string,
  ) => Promise<{ readonly doc: StoredDocument | undefined } | undefined>;
};

/** Follows the references that the decision found to count, to the values that are stored now. */
export function createOpenSecrets(sources: SecretSources): OpenSecrets {
  return async (job, step) => {
    const clear: string[] = [];
    const templates: SensitiveTemplate[] = [];
    let params: unknown = step.params;
    for (const field of fieldsOf(step)) {
      const keys = keysOf(field);
      const reference = readReference(valueAt(params, keys));
      if (reference === undefined || !isFor(reference, job, step, field)) continue;
      const value = await valueFor(reference, job, sources);
      if (value === undefined) return undefined;
      if (typeof value === 'string') {
        clear.push(value);
        params = withValue(params, keys, value);
      } else {
        clear.push(...Object.values(value.values ?? [value.text]));
        templates.push({ keys, ...value });
      }
    }
    return { params: { ...(params as Json | undefined) }, clear, templates };
  };
}

/** The version of the flow that holds a secret: that of the job, or of the job that a notification tells of. */
function versionOfSecret(job: LiveJob): string | undefined {
  const { entry } = notifiesOf(job) ?? {};
  return entry === undefined ? job.flow_definition.version : entry.version;
}

/** The value that a reference leads to, or the template with its values; undefined: the engine ends. */
function valueFor(
  reference: SecretReference,
  job: LiveJob,
  sources: SecretSources,
): Promise<string | Omit<SensitiveTemplate, 'keys'> | undefined> {
  const { kind, name, owner } = reference;
  const ask = { version: versionOfSecret(job), orCurrent: true } as const;
  const stored = sources.library.stored(kind, name, owner, ask);
  const there = valueAt(stored, keysOf(reference.field));
  const sensitive = readSensitive(there);
  if (sensitive !== undefined) {
    return sensitiveValue(sensitive, reference, job, sources).then(wholeValue);
  }
  const inTemplate = sensitiveNamesIn(there);
  if (inTemplate !== undefined) {
    return sensitiveTemplate(String(there), inTemplate, { reference, job, sources });
  }
  const named = readNamedSecret(there);
  return named === undefined
    ? valueIn(stored, reference, sources.keyring)
    : namedValue(named, reference, sources);
}

const wholeValue = (text: string | undefined) => (text === undefined ? undefined : { text });

/** A template with the values that it reads. */
async function sensitiveTemplate(
  text: string,
  names: readonly string[],
  { reference, job, sources }: Wanting,
): Promise<Omit<SensitiveTemplate, 'keys'> | undefined> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = await sensitiveValue(name, reference, job, sources);
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return { text, values };
}

type Wanting = {
  readonly reference: SecretReference;
  readonly job: LiveJob;
  readonly sources: SecretSources;
};

/** The sensitive value of the subject of the job, and of its owner; the task that is stored now has to list it. */
async function sensitiveValue(
  name: string,
  reference: SecretReference,
  job: LiveJob,
  { library, openSensitive }: SecretSources,
): Promise<string | undefined> {
  const where = wordsOf(reference);
  const task = library.stored('task', reference.name, reference.owner);
  const mayHave = reference.kind === 'task' && sensitiveNamesOf(task ?? {}).includes(name);
  if (!mayHave) throw problem('sensitive_unlisted', { where, name });
  const { subject } = job as { readonly subject?: unknown };
  const owner = job.owner ?? job.flow_definition.owner;
  return openSensitive({ owner, subject, name, where });
}

/** The value that stands encrypted in a task or flow. */
function valueIn(
  stored: StoredDocument | undefined,
  reference: SecretReference,
  keyring: Keyring,
): Promise<string> {
  const text = encryptedIn(stored).get(reference.field);
  if (text === undefined) throw problem('secret_gone', { ...reference });
  return keyring.decrypt(text, reference);
}

/** The value of a secret of the same owner that a task or flow names. */
async function namedValue(
  named: NamedSecret,
  reference: SecretReference,
  { keyring, readSecret }: Pick<SecretSources, 'keyring' | 'readSecret'>,
): Promise<string | undefined> {
  const { owner } = reference;
  const read = await readSecret(secretId(owner, named.name));
  if (read === undefined) return undefined;
  const found = secretValue(read.doc, owner, named);
  const about = { where: wordsOf(reference), secret: secretText(named), owner };
  if (found.kind === 'absent') throw problem('named_secret_missing', about);
  if (found.kind === 'unfit') throw problem('named_secret_unfit', about);
  const field = valueField(named);
  return keyring.decrypt(found.text, { kind: 'secret', owner, name: named.name, field });
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

/** A copy with another value at these keys. */
export function withValue(
  root: unknown,
  [key, ...rest]: readonly string[],
  value: unknown,
): unknown {
  if (key === undefined) return value;
  if (Array.isArray(root)) {
    return root.map((item: unknown, i) =>
      String(i) === key ? withValue(item, rest, value) : item,
    );
  }
  return { ...(root as Json), [key]: withValue((root as Json)[key], rest, value) };
}
