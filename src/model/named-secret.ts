import { z } from 'zod';
import { isEncrypted } from './encrypted.js';
import { isObject } from './object.js';
import { show, type Problem } from './problems.js';
import { nameSchema } from './scalars.js';
import { ownerOf } from './task.js';

/** The name of a secret, and of a value of it; without a field its only value, `value`. */
export type NamedSecret = { readonly name: string; readonly field?: string };

const word = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const wordText = 'letters, digits, "-" and "_", at most 100, the first a letter or a digit';

/** Whether a text can be the name of a secret or of a field of one. */
export const isSecretWord = (text: string): boolean => word.test(text);

const encryptedSchema = z
  .string({ error: 'must be a text that `tws encrypt` printed' })
  .regex(/^tws:v2:/, {
    error: 'must be encrypted: a text that `tws secret set` writes (tws:v2:…)',
  });

/** Values that tasks and flows of an owner refer to by name, encrypted. */
export const secretSchema = z
  .looseObject({
    type: z.literal('secret'),
    name: z
      .string({ error: 'must be the name of the secret' })
      .regex(word, { error: `must be a name of ${wordText}` })
      .describe('What `{"$secret": "name"}` refers to.'),
    owner: z.exactOptional(
      nameSchema.describe('Whose tasks and flows may refer to it; default DEFAULT.'),
    ),
    values: z.exactOptional(
      z
        .record(z.string().regex(word), encryptedSchema, {
          error: 'must be an object of encrypted values',
        })
        .describe('Encrypted values, by field: `{"$secret": "name.field"}`.'),
    ),
    value: z.exactOptional(encryptedSchema.describe('The value of a secret without fields.')),
  })
  .describe('Encrypted values that tasks and flows of its owner refer to by name.');

/** Returns the id of a secret: there is one place for a name and an owner. */
export function secretId(owner: string, name: string): string {
  return `secret:${owner}:${name}`;
}

/** The ids of all secrets begin so. */
export const secretPrefix = 'secret:';

/** Reads `{"$secret": "name"}` and `{"$secret": "name.field"}`; undefined for any other value. */
export function readNamedSecret(value: unknown): NamedSecret | undefined {
  const text = namedText(value);
  if (text === undefined) return undefined;
  const [name = '', field, ...others] = text.split('.');
  if (!word.test(name) || others.length > 0) return undefined;
  if (field === undefined) return { name };
  return word.test(field) ? { name, field } : undefined;
}

/** Whether a value has the key `$secret`, right or wrong. */
export function isNamedSecret(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, '$secret');
}

/** The text of a `$secret` that has no other keys beside it. */
function namedText(value: unknown): string | undefined {
  if (!isNamedSecret(value)) return undefined;
  const { $secret: text, ...others } = value as { readonly $secret: unknown };
  return typeof text === 'string' && Object.keys(others).length === 0 ? text : undefined;
}

/** How people write it: `mail.pass`. */
export function secretText({ name, field }: NamedSecret): string {
  return field === undefined ? name : `${name}.${field}`;
}

/** Where the document has the value: what the value is bound to. */
export function valueField({ field }: NamedSecret): string {
  return field === undefined ? 'value' : `values.${field}`;
}

/**
 * Returns the encrypted value that a document has of a secret. `unfit`: what is there is not encrypted, or the
 * document is not the secret of this owner and name.
 */
export function secretValue(
  doc: Readonly<Record<string, unknown>> | undefined,
  owner: string,
  named: NamedSecret,
):
  | { readonly kind: 'there'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unfit' } {
  if (doc === undefined) return { kind: 'absent' };
  if (doc['type'] !== 'secret' || doc['name'] !== named.name || ownerOf(doc) !== owner) {
    return { kind: 'unfit' };
  }
  const { value, values } = doc;
  const of = isObject(values) ? values : {};
  const { field } = named;
  const text = field === undefined ? value : Object.hasOwn(of, field) ? of[field] : undefined;
  if (text === undefined) return { kind: 'absent' };
  return typeof text === 'string' && isEncrypted(text)
    ? { kind: 'there', text }
    : { kind: 'unfit' };
}

/** The names of the fields that a secret has; of its only value the empty text. */
export function fieldsOfSecret(doc: Readonly<Record<string, unknown>>): readonly string[] {
  const { value, values } = doc;
  const named = isObject(values) ? Object.keys(values) : [];
  return [...(value === undefined ? [] : ['']), ...named];
}

/** What is wrong with `$secret` at a place of a task or flow; undefined: nothing. */
export function namedProblem(value: unknown, path: string): Problem | undefined {
  if (!isNamedSecret(value) || readNamedSecret(value) !== undefined) return undefined;
  const { $secret: text, ...others } = value as { readonly $secret: unknown };
  const [other] = Object.keys(others);
  const why =
    other === undefined
      ? `must name a secret, as {"$secret": "name"} or {"$secret": "name.field"} (each of ${wordText}); it is ${show(text)}`
      : `must have no other key beside "$secret"; it has ${show(other)}`;
  return { path, message: `${path} ${why}.` };
}
