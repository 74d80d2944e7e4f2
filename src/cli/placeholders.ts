import { isObject } from '../model/object.js';
import { textsIn } from '../validate/document.js';
import type { Written } from '../validate/written.js';

/** A `[[label]]` of a job file, with the dotted paths of the values that hold it. */
export type Placeholder = { readonly label: string; readonly paths: readonly string[] };

const pattern = /\[\[\s*([^[\]]+?)\s*\]\]/g;

/** Every label that is open, in the order of the file. */
export function openPlaceholders(doc: Written): readonly Placeholder[] {
  const found = new Map<string, string[]>();
  for (const { text, keys } of textsIn(doc)) {
    for (const [, label = ''] of text.matchAll(pattern)) {
      const paths = found.get(label) ?? [];
      const path = keys.join('.');
      if (!paths.includes(path)) paths.push(path);
      found.set(label, paths);
    }
  }
  return [...found].map(([label, paths]) => ({ label, paths }));
}

/** Puts the answers in place of their labels; labels without one stay. */
export function fillPlaceholders(doc: Written, answers: ReadonlyMap<string, string>): Written {
  return mapTexts(doc, (text) =>
    text.replace(pattern, (whole, label: string) => answers.get(label) ?? whole),
  ) as Written;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

/**
 * Sets the value at a dotted path (`params.mail-0.to`); objects on the way are made, numbers in
 * it index lists. What stands in the way and is no object is replaced.
 */
export function setAt(value: unknown, path: readonly string[], to: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(value) && /^\d+$/.test(key)) {
    const copy: unknown[] = [...(value as unknown[])];
    copy[Number(key)] = setAt(copy[Number(key)], rest, to);
    return copy;
  }
  const record = isObject(value) ? value : {};
  return { ...record, [key]: setAt(record[key], rest, to) };
}

/** A value of the command line: JSON where it is JSON (`5`, `true`, `{"a":1}`), else the text. */
export function toValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
