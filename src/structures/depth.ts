import { isObject } from '../model/object.js';
import type { RuleBreak } from './kind.js';
import { structureKinds } from './kinds.js';

/** Structures may be nested this deep. */
const deepestStructure = 24;

/** The keys that lead to the first structure that is nested too deep, if there is one. */
export function depthBreaks(tasks: unknown): readonly RuleBreak[] {
  const keys = tooDeep(tasks, 0, []);
  const message = `must not be nested deeper than ${deepestStructure} structures`;
  return keys === undefined ? [] : [{ keys, message }];
}

const words = Object.keys(structureKinds);

function tooDeep(
  value: unknown,
  depth: number,
  keys: readonly (string | number)[],
): readonly (string | number)[] | undefined {
  const list = Array.isArray(value);
  if (!list && !isObject(value)) return undefined;
  const isNode = list ? typeof keys.at(-1) !== 'string' : words.some((word) => word in value);
  const deeper = isNode ? depth + 1 : depth;
  if (deeper > deepestStructure) return keys;
  for (const [key, inner] of Object.entries(value)) {
    if (!list && (key === 'params' || key === 'over')) continue;
    const found = tooDeep(inner, deeper, [...keys, list ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
