import { percentDecoded } from './percent.js';

/**
 * A secret as jobs know it: the document that holds it and the field, instead of its encrypted text.
 * Engines write references when they take a definition into a job, and follow them when an attempt
 * begins. What anybody else writes in this form is a text like any other.
 */
export type SecretReference = {
  readonly kind: 'task' | 'flow';
  readonly owner: string;
  readonly name: string;
  /** Keys of the document, escaped and joined by dots: `params.smtp.auth.pass` (see `fieldOf`). */
  readonly field: string;
};

const form = /^tws:secret:(task|flow):([^:]*):([^:]*):([^:]+)$/;

/** `tws:secret:<kind>:<owner>:<name>:<field>`, each part percent-encoded. */
export function referenceText({ kind, owner, name, field }: SecretReference): string {
  return `tws:secret:${kind}:${escaped(owner)}:${escaped(name)}:${field}`;
}

/** Whether a value has the form of a reference, whoever wrote it. */
export function isReference(value: unknown): boolean {
  return typeof value === 'string' && form.test(value);
}

/** Reads a reference; undefined for any other value. */
export function readReference(value: unknown): SecretReference | undefined {
  if (typeof value !== 'string') return undefined;
  const [, kind, owner, name, field] = form.exec(value) ?? [];
  if (kind === undefined || field === undefined) return undefined;
  try {
    return {
      kind: kind === 'task' ? 'task' : 'flow',
      owner: decodeURIComponent(String(owner)),
      name: decodeURIComponent(String(name)),
      field,
    };
  } catch {
    return undefined;
  }
}

/** The field at these keys and list positions; a dot in a key is written as `%2E`. */
export function fieldOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => escaped(String(key)).replaceAll('.', '%2E')).join('.');
}

/** The keys of a field. */
export function keysOf(field: string): readonly string[] {
  return field.split('.').map(percentDecoded);
}

function escaped(text: string): string {
  // Lone surrogates have no percent-encoding.
  return encodeURIComponent(text.replace(/[\uD800-\uDFFF]/gu, '\uFFFD'));
}
