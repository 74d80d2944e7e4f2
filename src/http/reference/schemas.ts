import { z } from 'zod';
import { retryPolicySchema } from '../../model/retry.js';
import { entryForms, tasksSchema, writtenNodeSchema } from '../../structures/schema.js';

export type SchemaObject = Readonly<Record<string, unknown>>;

/** The schemas of one OpenAPI document: those that have a name stand in it once. */
export type Schemas = {
  /** A reference to a named schema, or the schema itself. */
  readonly reference: (schema: z.ZodType) => SchemaObject;
  /** The named ones that were referred to, by name. */
  readonly all: () => Readonly<Record<string, SchemaObject>>;
};

/** Names of schemas of the model; those of the API carry theirs (`meta({ id })`). */
const names = new Map<z.core.$ZodType, string>([
  [tasksSchema, 'Tasks'],
  [writtenNodeSchema, 'Node'],
  [entryForms.task, 'Entry'],
  [retryPolicySchema, 'RetryPolicy'],
]);

/** What zod knows of a schema, and its name. */
const registry = {
  get: (schema: z.core.$ZodType): SchemaObject | undefined => {
    const known = z.globalRegistry.get(schema);
    const id = names.get(schema);
    return id === undefined ? known : { ...known, id };
  },
} as unknown as typeof z.globalRegistry;

/** Begins without any. */
export function createSchemas(): Schemas {
  const named = new Map<string, SchemaObject>();
  /** Names of the recursive schemas that had none, by their text. */
  const parts = new Map<string, string>();
  const nameOf = (key: string, inner: SchemaObject): string => {
    if (!isUnnamed(key)) return key;
    const text = JSON.stringify(inner).replaceAll(`#/$defs/${key}`, '#');
    const name = parts.get(text) ?? `Part${parts.size + 1}`;
    parts.set(text, name);
    return name;
  };
  return {
    reference: (schema) => {
      const { $defs, $schema: _dialect, ...json } = convert(schema);
      const defs = Object.entries(($defs ?? {}) as Readonly<Record<string, SchemaObject>>);
      const renamed = new Map(defs.map(([key, inner]) => [key, nameOf(key, inner)] as const));
      for (const [key, inner] of defs) {
        const name = renamed.get(key) ?? key;
        if (!named.has(name))
          named.set(name, withoutKnot(pointed(inner, renamed) as SchemaObject, name));
      }
      return pointed(json, renamed) as SchemaObject;
    },
    all: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Recursive schemas without a name get a number from zod, which counts in one schema only. */
function isUnnamed(key: string): boolean {
  return /^__schema\d+$/.test(key);
}

function convert(schema: z.ZodType): SchemaObject {
  return z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    metadata: registry,
  });
}

/**
 * A copy whose references lead into the document, without the ids that were only names, and without
 * saying that further keys are allowed: they are unless something says otherwise, and generators of
 * clients make unusable types of it.
 */
function pointed(value: unknown, renamed: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => pointed(item, renamed));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !(key === 'id' && typeof item === 'string'))
      .filter(([key, item]) => !('properties' in value && isOpen(key, item)))
      .map(([key, item]) => {
        const to =
          key === '$ref' && typeof item === 'string' ? /^#\/\$defs\/(.+)$/.exec(item) : null;
        const name = renamed.get(to?.[1] ?? '');
        return [key, name === undefined ? pointed(item, renamed) : `#/components/schemas/${name}`];
      }),
  );
}

/**
 * A schema that is itself a list of itself is right, and more than the types of TypeScript can say in
 * one place: such a list is described as one of anything.
 */
function withoutKnot(json: SchemaObject, name: string): SchemaObject {
  const { anyOf } = json as { readonly anyOf?: readonly SchemaObject[] };
  if (anyOf === undefined) return json;
  const own = JSON.stringify({ $ref: `#/components/schemas/${name}` });
  const loosened = anyOf.map((one) =>
    JSON.stringify(one['items']) === own ? { ...one, items: {} } : one,
  );
  return { ...json, anyOf: loosened };
}

function isOpen(key: string, item: unknown): boolean {
  return key === 'additionalProperties' && JSON.stringify(item) === '{}';
}
