import { isObject } from '../../model/object.js';
import { isSameJson } from '../../model/three-way.js';

/** The path of a value in a document. */
export type JsonPath = readonly (string | number)[];

/** One change of a value; `value` undefined: the key goes. */
export type JsonChange = { readonly path: JsonPath; readonly value: unknown };

/** The smallest changes that make one value of another; lists of another length are replaced. */
export function changesBetween(
  from: unknown,
  to: unknown,
  at: JsonPath = [],
): readonly JsonChange[] {
  if (isSameJson(from, to)) return [];
  if (isObject(from) && isObject(to)) {
    const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...keys].flatMap((key) => changesBetween(own(from, key), own(to, key), [...at, key]));
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    return from.flatMap((item: unknown, i) => changesBetween(item, to[i], [...at, i]));
  }
  return [{ path: at, value: to }];
}

/** A path as people read it: `params.to[0]`. */
export function pathText(path: JsonPath): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('');
}

function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
