import { isObject } from '../model/object.js';

/**
 * Returns the fields of a form whose answers are not shown: `writeOnly`, or of the format `password`, they or anything
 * in them. Undefined: there are none.
 */
export function concealedIn({
  properties,
}: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const names = fields.filter(([, field]) => isConcealed(field)).map(([name]) => name);
  return names.length === 0 ? undefined : names;
}

function isConcealed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isConcealed);
  if (!isObject(schema)) return false;
  if (schema['writeOnly'] === true || schema['format'] === 'password') return true;
  return Object.values(schema).some(isConcealed);
}
