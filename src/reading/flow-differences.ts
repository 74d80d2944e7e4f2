import type { StoredDocument } from '../model/document.js';
import { currentRecordKeys } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { toJsonPath } from '../model/problems.js';
import { isSameJson } from '../model/three-way.js';

/** One place in which two documents differ; what is not there is left out. */
export type FlowDifference = {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
};

/** What tells documents of the same content apart. */
const besides: ReadonlySet<string> = new Set([
  ...['_id', '_rev', '_attachments', 'pushed_from', '$schema'],
  ...['version', 'current', ...currentRecordKeys],
]);

/** Keys and places of lists from the root of a document. */
export type KeysOfValue = readonly (string | number)[];

/** A value as it is shown, by where it is. */
export type ShowValue = (value: unknown, keys: KeysOfValue) => unknown;

const asItIs: ShowValue = (value) => value;

/** Where two versions of a flow differ, in the order of their keys. Lists are compared item by item. */
export function flowDifferences(
  from: StoredDocument,
  to: StoredDocument,
  show = asItIs,
): readonly FlowDifference[] {
  const content = (doc: StoredDocument) =>
    Object.fromEntries(Object.entries(doc).filter(([key]) => !besides.has(key)));
  return differencesAt({ from: content(from), to: content(to), show }, []);
}

type Both = { readonly from: unknown; readonly to: unknown; readonly show: ShowValue };

function differencesAt({ from, to, show }: Both, keys: KeysOfValue): readonly FlowDifference[] {
  if (isSameJson(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }, (_, i) => i).flatMap((i) =>
      differencesAt({ from: from[i], to: to[i], show }, [...keys, i]),
    );
  }
  if (isObject(from) && isObject(to)) {
    const all = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return all.flatMap((key) =>
      differencesAt({ from: ownOf(from, key), to: ownOf(to, key), show }, [...keys, key]),
    );
  }
  const was = from === undefined ? {} : { from: show(from, keys) };
  const now = to === undefined ? {} : { to: show(to, keys) };
  return [{ path: toJsonPath(keys), ...was, ...now }];
}

function ownOf(of: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}
