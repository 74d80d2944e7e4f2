import { z } from 'zod';
import type { Entry } from '../model/tree.js';
import type { Ask } from './kind.js';

export const conditionSchema = z.string({ error: 'must be a JSONata condition (a string)' });

/** Returns the conditions of a node, in the order of their evaluation. */
export function conditionsOf({
  when,
  guards = [],
}: Pick<Entry, 'when' | 'guards'>): readonly Ask[] {
  const list = typeof guards === 'string' ? [guards] : guards;
  return [
    ...(when === undefined ? [] : [{ at: 'when', expression: when }]),
    ...list.map((expression, i) => ({ at: `guards[${i}]`, expression })),
  ];
}

/**
 * Whether a value is true as in the JSONata function `$boolean`: empty lists, objects, strings and
 * 0 are false.
 */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isTrue);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}
