import { isRecord } from '../editor/schema-at.js';
import type { StoredDefinition } from '../definitions/stored.js';
import { fieldForSchema, type GroupField } from './fields.js';
import { offered, type IsSealed } from './sealed.js';

/**
 * A form for the parameters of a job; `usuals`: what the flow gives where nothing is filled in; `sealed`:
 * what is left out, since tasks seal it.
 */
export type FlowForm = {
  readonly field: GroupField;
  readonly usuals: Readonly<Record<string, unknown>>;
  readonly sealed: readonly string[];
};

/** The form of the flow's schema, where it has one that can be a form; what the flow gives need not be filled in. */
export function formOf(
  { document }: Pick<StoredDefinition, 'document'>,
  isSealed: IsSealed = () => false,
): FlowForm | undefined {
  const { schema, params } = document;
  if (!isRecord(schema)) return undefined;
  const field = fieldForSchema(schema, 'parameters');
  if (field.kind !== 'group') return undefined;
  const usuals = Object.entries(isRecord(params) ? params : {}).filter(([key]) =>
    Object.hasOwn(field.fields, key),
  );
  const given = new Set(usuals.map(([key]) => key));
  const fields = Object.entries(field.fields).map(([key, inner]) => {
    if (!given.has(key)) return [key, inner] as const;
    const { initial: _initial, ...rest } = inner;
    return [key, { ...rest, required: false }] as const;
  });
  return {
    ...offered({ ...field, fields: Object.fromEntries(fields) }, isSealed),
    usuals: Object.fromEntries(usuals),
  };
}

/** Why there is no form for a flow, as a sentence. */
export function whyJson({ document }: Pick<StoredDefinition, 'document'>): string {
  const { schema } = document;
  if (!isRecord(schema)) return 'The flow has no "schema" that a form could be made of.';
  const field = fieldForSchema(schema, 'parameters');
  const why = field.kind === 'json' ? field.why : 'what it begins with';
  return `No form can show this schema (${why}).`;
}
