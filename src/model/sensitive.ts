import { z } from 'zod';
import { isObject } from './object.js';
import { show, type Problem } from './problems.js';
import { durationSchema, momentSchema, nameSchema, textSchema } from './scalars.js';

/*
 * Values about a person or another subject, kept apart from jobs: sealed with a key of the subject, in a
 * database of their own; the keys are in yet another one.
 */

const word = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Whether a text can be the name of a value. */
export const isSensitiveName = (text: string): boolean => word.test(text);

/** What stands for a subject in documents; it does not tell whom. */
const referenceForm = /^s-[A-Za-z0-9_-]{43}$/;
export const isSubjectReference = (text: unknown): text is string =>
  typeof text === 'string' && referenceForm.test(text);

/** A shorter value could not be hidden inside other texts. */
export const shortestSensitive = 4;
/** Values that are longer, in characters, belong in files. */
export const longestSensitive = 16_384;

/** `subject` of a job. */
export const subjectSchema = z
  .string({ error: 'must be the reference of a subject (a text)' })
  .regex(referenceForm, {
    error: 'must be the reference of a subject that `tws sensitive put` prints (s-…)',
  })
  .describe('Reference of the subject whose sensitive values its steps may use.');

/** The values of a subject, as they are stored. */
export const sensitiveSchema = z
  .looseObject({
    type: z.literal('sensitive'),
    subject: subjectSchema,
    owner: nameSchema.describe('Whose jobs may use the values.'),
    values: z.record(z.string(), textSchema).describe('Sealed values, by name.'),
    updated: momentSchema.describe('When a value was last stored.'),
    retain: z.exactOptional(
      durationSchema.describe(
        'How long they stay after that, before the key is destroyed; 0: for ever; absent: as the setting `sensitive_retain` says.',
      ),
    ),
  })
  .describe('Sensitive values of a subject, in the database NAME_sensitive.');

/** The key of the values of a subject, itself encrypted with `TWS_CRYPTO_KEY`. */
export const subjectKeySchema = z
  .looseObject({
    type: z.literal('subject-key'),
    owner: nameSchema,
    key: textSchema.describe('Encrypted with TWS_CRYPTO_KEY.'),
  })
  .describe('The key of the sensitive values of a subject, in the database NAME_subject_keys.');

/** Somebody was given sensitive values. */
export const sensitiveAccessSchema = z
  .looseObject({
    type: z.literal('sensitive-access'),
    who: textSchema.describe('User, token or process that asked.'),
    at: momentSchema,
    owner: nameSchema,
    subject: subjectSchema,
    names: z.array(textSchema).describe('Which values.'),
    why: z.exactOptional(textSchema.describe('The reason that was given.')),
    how: z
      .enum(['get', 'put', 'purge'])
      .describe('Values were read or stored, or the key was destroyed.'),
  })
  .describe('A record of an access to sensitive values, in the database NAME_sensitive.');

/** Whether a value has the key `$sensitive`, right or wrong. */
export function isSensitive(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, '$sensitive');
}

/** Reads `{"$sensitive": "NAME"}`; undefined for any other value. */
export function readSensitive(value: unknown): string | undefined {
  if (!isSensitive(value)) return undefined;
  const { $sensitive: name, ...others } = value as { readonly $sensitive: unknown };
  const isAlone = Object.keys(others).length === 0;
  return typeof name === 'string' && isAlone && word.test(name) ? name : undefined;
}

/** What is wrong with `$sensitive` at a place of a task or flow; undefined: nothing. */
export function sensitiveProblem(value: unknown, path: string): Problem | undefined {
  if (!isSensitive(value) || readSensitive(value) !== undefined) return undefined;
  const { $sensitive: name } = value as { readonly $sensitive: unknown };
  const message = `${path} must name a sensitive value, as {"$sensitive": "name"} with no other key (letters, digits, "-" and "_"); it is ${show(name)}.`;
  return { path, message };
}

/** Where a tag reads a sensitive value, and its name; a name that is missing or no name is left out. */
const readInTag = /\$sensitive(?![\w$-])(?:[./]\[?([A-Za-z0-9][A-Za-z0-9_-]{0,99})(?![\w-]))?/g;

/**
 * The names of the sensitive values that the tags of a template read (`{{$sensitive.iban}}`, `{{#if $sensitive.iban}}`);
 * "" for a tag that names none. Undefined: it reads none, or is no text.
 */
export function sensitiveNamesIn(text: unknown): readonly string[] | undefined {
  if (typeof text !== 'string' || !text.includes('$sensitive')) return undefined;
  const names = new Set<string>();
  for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', at + 2)) {
    const end = text.indexOf('}}', at);
    const tag = text.slice(at, end < 0 ? undefined : end);
    for (const [, name = ''] of tag.matchAll(readInTag)) names.add(name);
  }
  return names.size === 0 ? undefined : [...names];
}

/** The names that a task lists: those that its steps may use. */
export function sensitiveNamesOf(task: Readonly<Record<string, unknown>>): readonly string[] {
  const { sensitive } = task;
  return Array.isArray(sensitive)
    ? sensitive.filter((name: unknown) => typeof name === 'string')
    : [];
}

/** Why values cannot be stored: undefined when they can. */
export function valuesProblem(values: unknown): string | undefined {
  if (!isObject(values) || Object.keys(values).length === 0) {
    return 'values must be an object of texts, not empty';
  }
  for (const [name, value] of Object.entries(values)) {
    if (!word.test(name)) {
      return `${show(name)} is no name of a value: use letters, digits, "-" and "_"`;
    }
    if (typeof value !== 'string') return `the value "${name}" must be a text`;
    const { length } = value;
    if (length < shortestSensitive || length > longestSensitive) {
      return `the value "${name}" must have ${shortestSensitive} to ${longestSensitive} characters; shorter ones cannot be hidden inside other texts`;
    }
  }
  return undefined;
}

/** The names of the databases beside one. */
export const sensitiveDatabases = (database: string) => ({
  values: `${database}_sensitive`,
  keys: `${database}_subject_keys`,
});

/** The role that may read sensitive values. */
export const sensitiveRole = 'tws-sensitive';
