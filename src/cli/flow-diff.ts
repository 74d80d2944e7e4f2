import { isDeepStrictEqual } from 'node:util';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { toJsonPath } from '../model/problems.js';

/** One place in which two documents differ; what is not there is left out. */
export type FlowDifference = {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
};

/** What tells documents of the same content apart. */
const besides: ReadonlySet<string> = new Set([
  ...['_id', '_rev', '_attachments', 'pushed_from', '$schema'],
  ...['version', 'current', 'current_since'],
]);

/** Where two versions of a flow differ, in the order of their keys. */
export function flowDifferences(
  from: StoredDocument,
  to: StoredDocument,
): readonly FlowDifference[] {
  const content = (doc: StoredDocument) =>
    Object.fromEntries(Object.entries(doc).filter(([key]) => !besides.has(key)));
  return differencesIn(content(from), content(to), []);
}

type Keys = readonly (string | number)[];

function differencesIn(from: unknown, to: unknown, keys: Keys): readonly FlowDifference[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }, (_, i) => i).flatMap((i) =>
      differencesIn(from[i], to[i], [...keys, i]),
    );
  }
  if (isPlain(from) && isPlain(to)) {
    const all = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return all.flatMap((key) => differencesIn(from[key], to[key], [...keys, key]));
  }
  const was = from === undefined ? {} : { from };
  return [{ path: toJsonPath(keys), ...was, ...(to === undefined ? {} : { to }) }];
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}
