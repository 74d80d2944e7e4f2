import { isRecord, record } from '../editor/schema-at.js';
import { percentDecoded } from '../../model/percent.js';
import type { JsonSchema } from '../../model/scalars.js';

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array'] as const;
export type Type = (typeof types)[number];

/** A schema without references, with what `allOf` joins written into it. */
export type Expanded = {
  readonly schema: JsonSchema;
  /** What it may be, without `null`. */
  readonly types: readonly Type[];
  readonly nullable: boolean;
  /** Of `oneOf` or `anyOf`, expanded, without that of `null`. */
  readonly alternatives: readonly JsonSchema[];
  /** What of it a form cannot show. */
  readonly beyond?: string;
};

/** Keywords that make one field depend on another. */
const strange = [
  ...['if', 'then', 'else', 'not', 'dependentSchemas', 'dependencies', 'patternProperties'],
  ...['propertyNames', '$dynamicRef', '$recursiveRef', 'contains'],
];

/** Resolves what a schema refers to and joins. */
export function expanded(root: JsonSchema, given: unknown): Expanded {
  const schema = joined(root, given, []);
  if (schema === undefined) return nothing('what it refers to');
  const odd = strange.find((key) => schema[key] !== undefined);
  if (odd !== undefined) return nothing(`"${odd}"`, schema);
  const { oneOf, anyOf } = schema;
  if (Array.isArray(oneOf) && Array.isArray(anyOf))
    return nothing('"oneOf" beside "anyOf"', schema);
  const list = [oneOf, anyOf].find(Array.isArray) as readonly unknown[] | undefined;
  const alternatives = (list ?? []).map((one) => joined(root, one, []));
  if (alternatives.includes(undefined)) return nothing('what it refers to', schema);
  const known = alternatives.filter((one) => one !== undefined);
  const others = known.filter((one) => one['type'] !== 'null' && one['const'] !== null);
  const [only] = others;
  const nullable = others.length < known.length || typesIn(schema).includes('null');
  if (others.length === 1 && only !== undefined) {
    const { oneOf: _one, anyOf: _any, ...own } = schema;
    const inner = expanded(root, { ...own, ...only });
    return { ...inner, nullable: inner.nullable || nullable };
  }
  return { schema, types: typesOf(schema), nullable, alternatives: others };
}

function nothing(beyond: string, schema: JsonSchema = {}): Expanded {
  return { schema, types: [], nullable: false, alternatives: [], beyond };
}

/** Undefined: it refers to something that is not there, or to itself. */
function joined(root: JsonSchema, given: unknown, seen: readonly string[]): JsonSchema | undefined {
  if (given === true) return {};
  if (!isRecord(given)) return undefined;
  const { $ref, allOf, ...own } = given;
  const parts: (JsonSchema | undefined)[] = [];
  if (typeof $ref === 'string') {
    if (seen.includes($ref)) return undefined;
    parts.push(joined(root, pointed(root, $ref), [...seen, $ref]));
  }
  if (Array.isArray(allOf)) parts.push(...allOf.map((one) => joined(root, one, seen)));
  return parts.reduce<JsonSchema | undefined>(
    (sum, part) => (sum === undefined || part === undefined ? undefined : both(sum, part)),
    own,
  );
}

function both(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...record(other['properties']), ...record(one['properties']) };
  const required = [one['required'], other['required']].flatMap((list) =>
    Array.isArray(list) ? (list as readonly unknown[]) : [],
  );
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  };
}

function pointed(root: JsonSchema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  const parts = ref.split('/').slice(1);
  return parts.reduce<unknown>((at, part) => {
    const key = percentDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
}

function typesIn({ type }: JsonSchema): readonly unknown[] {
  return type === undefined ? [] : [type].flat();
}

/** A schema that says nothing of a type often says which one it means. */
function typesOf(schema: JsonSchema): readonly Type[] {
  const given = typesIn(schema);
  if (given.length > 0) return types.filter((type) => given.includes(type));
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return ['object'];
  if (schema['items'] !== undefined) return ['array'];
  if (schema['pattern'] !== undefined || schema['format'] !== undefined) return ['string'];
  return schema['minimum'] === undefined && schema['maximum'] === undefined ? [] : ['number'];
}
