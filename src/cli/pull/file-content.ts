import { currentRecordKeys } from '../../model/flow-versions.js';
import type { StoredDocument } from '../../model/document.js';
import { versionOf } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import { fieldBelow } from '../../model/secret-names.js';
import { findClearSecrets } from '../../secrets/parameters.js';
import { engineKeysOf, textsIn } from '../../validate/document.js';
import type { Written } from '../../validate/written.js';
import { fileContent } from '../files.js';

/** What operators switch in the database, and when they did. */
const switchKeys = ['enabled', 'paused', 'current', ...currentRecordKeys, 'backfill'];

/**
 * The part of a stored definition that belongs into a file. What operators switch is a part of it where the file
 * says something of it, as a push leaves it alone elsewhere. `says`: whether a switch is told in files.
 */
export function contentForFile(doc: StoredDocument, says: (key: string) => boolean): Written {
  const engines = engineKeysOf(doc['type']);
  const entries = Object.entries(fileContent(doc)).filter(
    ([key]) =>
      !key.startsWith('_') && !engines.includes(key) && (!switchKeys.includes(key) || says(key)),
  );
  return Object.fromEntries(entries);
}

/** The switches that a new file takes over: what is off or current where it comes from is so elsewhere. */
export const saysInNewFile = (key: string): boolean =>
  !currentRecordKeys.includes(key) && key !== 'backfill';

/** The text of a new file, as `tws new` writes it. `schema`: the way to the folder of the JSON Schemas. */
export function newFileText(id: string, content: Written, schema: string): string {
  const { type, name, owner, ...rest } = content;
  const file = {
    ...{ _id: id, $schema: `${schema}/${String(type)}.json`, type, name },
    ...(owner === undefined ? {} : { owner }),
    ...rest,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * A name for the file of a definition, without its ending: its name, with `@` and its version where it is a flow
 * that has one. Signs that are not safe in names of files are written as in URLs; `taken` says which there are.
 */
export function fileNameFor(doc: Written, taken: (name: string) => boolean): string {
  const version = doc['type'] === 'flow' ? versionOf(doc) : undefined;
  const name = safeName(`${String(doc['name'])}${version === undefined ? '' : `@${version}`}`);
  if (!taken(name)) return name;
  const owned = `${name}.${safeName(ownerOf(doc))}`;
  if (!taken(owned)) return owned;
  for (let n = 2; ; n += 1) if (!taken(`${owned}-${n}`)) return `${owned}-${n}`;
}

/** Longest name of a file without its ending; systems of files take 255 bytes. */
const longest = 120;

function safeName(name: string): string {
  const safe = name.replace(/[^\w.@+-]/gu, (sign) =>
    encodeURIComponent(Buffer.from(sign).toString()),
  );
  // Names that begin with `_` or `.` are left out by a push.
  return safe
    .replace(/^[_.]/, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .slice(0, longest);
}

/** The paths of secrets in clear that a text would have and the text before has not. */
export function newClearSecrets(before: Written, after: Written): readonly string[] {
  const known = clearTexts(before);
  return [...clearTexts(after)].flatMap(([path, text]) => (known.get(path) === text ? [] : [path]));
}

function clearTexts(doc: Written): ReadonlyMap<string, string> {
  const clear = new Set(findClearSecrets(doc));
  const texts = textsIn(doc).filter(({ path }) => clear.has(path));
  return new Map(texts.map(({ path, text }) => [path, text]));
}

/** A copy with `null` in place of each secret in clear. */
export function withoutClearSecrets(doc: Written): Written {
  const clear = new Set(findClearSecrets(doc));
  return clear.size === 0 ? doc : (hidden(doc, clear, '') as Written);
}

function hidden(value: unknown, clear: ReadonlySet<string>, path: string): unknown {
  if (typeof value === 'string') return clear.has(path) ? null : value;
  if (Array.isArray(value)) {
    return value.map((item, i) => hidden(item, clear, fieldBelow(path, i)));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, hidden(item, clear, fieldBelow(path, key))]),
  );
}
