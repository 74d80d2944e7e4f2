import { isObject } from '../model/object.js';

export type SchemaFields = Record<string, unknown>;

/**
 * The same JSON Schema for a part of the parameters: what is absent may come from elsewhere. Whatever
 * the whole schema accepts with more added, this one accepts of the part.
 */
export function relaxed(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (dropped.has(key)) return [];
    if (maps.has(key) && isObject(value)) return [[key, mapValues(value, relaxed)]];
    if (key === 'oneOf' && Array.isArray(value)) return [['anyOf', value.map(relaxed)]];
    if (Array.isArray(value) && lists.has(key)) return [[key, value.map(relaxed)]];
    return [[key, single.has(key) ? relaxed(value) : value]];
  });
  return Object.fromEntries(entries);
}

/** Keywords that may turn true when more is added. */
const dropped = new Set([
  'required',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'minProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'minContains',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const lists = new Set(['anyOf', 'allOf', 'items', 'prefixItems']);
const single = new Set(['items', 'additionalItems', 'additionalProperties']);

function mapValues(value: SchemaFields, map: (inner: unknown) => unknown): SchemaFields {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner)]));
}

/** Stands for a value that is not known yet. */
export const unknownValue = Symbol('open');

/**
 * A copy without the values that are not known yet. A list with such a one is as a whole not known:
 * its others would move to other places.
 */
export function pruned(value: unknown, isOpen: (value: unknown) => boolean): unknown {
  if (isOpen(value)) return unknownValue;
  if (Array.isArray(value)) {
    const items = value.map((item) => pruned(item, isOpen));
    return items.includes(unknownValue) ? unknownValue : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, pruned(inner, isOpen)] as const,
  );
  return Object.fromEntries(entries.filter(([, inner]) => inner !== unknownValue));
}
