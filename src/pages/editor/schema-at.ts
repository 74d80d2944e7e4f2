import type { JsonSchema } from '../../model/scalars.js';

type Key = string | number;

/**
 * The schemas that may describe the value at a path, each without `$ref` and alternatives. `value` is the
 * whole document as far as it is written: of alternatives only those are kept that it can still become.
 */
export function schemasAt(
  root: JsonSchema,
  path: readonly Key[],
  value: unknown,
): readonly JsonSchema[] {
  const look: Look = { root };
  let here = fitting(formsOf(look, root), value);
  let at = value;
  for (const key of path) {
    const below = here.flatMap((schema) => schemaOf(schema, key));
    at = valueOf(at, key);
    here = fitting(unique(below.flatMap((schema) => formsOf(look, schema))), at);
  }
  return here;
}

/** The alternatives of a schema that stands somewhere in `root`, without those that allow nothing. */
export function formsIn(root: JsonSchema, schema: unknown): readonly JsonSchema[] {
  return isRecord(schema) ? formsOf({ root }, schema) : [];
}

type Look = { readonly root: JsonSchema };

/** A schema as its alternatives, with what each has in common written into it. */
function formsOf(
  look: Look,
  schema: JsonSchema,
  seen: readonly JsonSchema[] = [],
): readonly JsonSchema[] {
  if (isNever(schema) || seen.includes(schema)) return [];
  const before = [...seen, schema];
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  if (typeof $ref === 'string') {
    const target = pointed(look.root, $ref);
    return target === undefined
      ? []
      : formsOf(look, target, before).map((form) => ({ ...form, ...own }));
  }
  const alternatives = [anyOf, oneOf].flatMap((list) => (isList(list) ? list : []));
  const parts = isList(allOf) ? allOf : [];
  // Each alternative of one part may meet each alternative of another one.
  const wholes = parts.reduce<readonly JsonSchema[]>(
    (sums, part) => {
      const forms = formsOf(look, part, before);
      return sums.flatMap((sum) => forms.map((form) => joined(sum, form)));
    },
    [own],
  );
  if (alternatives.length === 0) return wholes;
  const about = own['description'];
  return alternatives
    .flatMap((one) => formsOf(look, one, before))
    .flatMap((form) => wholes.map((whole) => joined(form, whole)))
    .map((form) => ({ ...(about === undefined ? {} : { description: about }), ...form }));
}

/** Two schemas that must both be met. */
function joined(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...record(one['properties']), ...record(other['properties']) };
  const required = [...list(one['required']), ...list(other['required'])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function pointed(root: JsonSchema, ref: string): JsonSchema | undefined {
  if (!ref.startsWith('#')) return undefined;
  const parts = ref.slice(1).split('/').slice(1);
  const target = parts.reduce<unknown>(
    (at, part) => valueOf(at, part.replaceAll('~1', '/').replaceAll('~0', '~')),
    root,
  );
  return isRecord(target) ? target : undefined;
}

function schemaOf(schema: JsonSchema, key: Key): readonly JsonSchema[] {
  if (typeof key === 'number') {
    const first = list(schema['prefixItems'])[key];
    return [first ?? schema['items']].filter(isRecord);
  }
  const named = Object.hasOwn(record(schema['properties']), key)
    ? record(schema['properties'])[key]
    : schema['additionalProperties'];
  return [named].filter(isRecord);
}

/** Those of which the value may be an unfinished one; all of them when none is. */
function fitting(schemas: readonly JsonSchema[], value: unknown): readonly JsonSchema[] {
  const fit = schemas.filter((schema) => mayBecome(schema, value));
  return fit.length === 0 ? schemas : fit;
}

function mayBecome(schema: JsonSchema, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (!typesOf(schema).includes(kindOf(value))) return false;
  if (!isRecord(value)) return true;
  const properties = record(schema['properties']);
  return Object.entries(value).every(([key, item]) => {
    if (!Object.hasOwn(properties, key)) return true;
    const inner = properties[key];
    if (!isRecord(inner)) return true;
    if (isNever(inner)) return false;
    const { const: fixed } = inner;
    // An empty text is one that is being written.
    return fixed === undefined || item === fixed || item === '' || item === null;
  });
}

const everyType = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;

/** The types that a schema allows; a whole number is a number. */
export function typesOf(schema: JsonSchema): readonly string[] {
  const { type, const: fixed, enum: words } = schema;
  if (type === undefined) {
    if (fixed !== undefined) return [kindOf(fixed)];
    if (Array.isArray(words)) return [...new Set(words.map(kindOf))];
    return everyType;
  }
  const named = ([type].flat() as readonly unknown[]).filter((one) => typeof one === 'string');
  return named.map((one) => (one === 'integer' ? 'number' : one));
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `{not: {}}`: nothing is valid. */
export function isNever(schema: unknown): boolean {
  if (schema === false) return true;
  if (!isRecord(schema)) return false;
  const { not } = schema;
  return not === true || (isRecord(not) && Object.keys(not).length === 0);
}

function unique(schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function valueOf(value: unknown, key: Key): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<Key, unknown>>)[key];
}

function isList(value: unknown): value is readonly JsonSchema[] {
  return Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An object, else an empty one. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
