import { currentRecordKeys } from '../model/flow-versions.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { fieldBelow } from '../model/secret-names.js';
import { isSameJson, mergeEdits } from '../model/three-way.js';
import { findClearSecrets } from '../secrets/parameters.js';
import { checkDocument } from '../validate/document.js';
import type { FileProblem, Written } from '../validate/written.js';
import { fileContent, type FoundFile } from './files.js';
import { contentForFile, withoutClearSecrets } from './pull/file-content.js';
import { changesBetween, pathText } from './pull/json-changes.js';
import type { SyncedEntry } from './pull/synced.js';

/*
 * What a push stores of a file, once file and database have agreed (`agreed`, of `.tws-synced.json`):
 *
 * PU1 What only the file has changed since then is stored.
 * PU2 What only the database has changed stays, and is named (`kept`).
 * PU3 What both have changed differently is a conflict: the document is refused, and the keys are named.
 * PU4 Without a record the file replaces the document.
 * PU5 Which version of a flow is current is not merged: `current: true` in a file is carried out by every push.
 * PU6 A switch (`enabled`, `paused`, `backfill`) of which the file says something for the first time is set by it.
 * PU7 A secret in clear is not remembered: one in the database counts as unchanged.
 * PU8 A document that was removed in the database stays removed while its file is unchanged; the file is named.
 * PU9 One that was removed there and changed here is a conflict.
 * PU10 Of documents that no file holds any more, `--prune` removes none that has changed in the database.
 */

/** What is to be stored; `kept`: the keys that only the database has changed. */
export type PushContent = { readonly content: Written; readonly kept: readonly string[] };

/** A document that file and database have changed at the same keys. */
export type PushConflict = FileProblem & { readonly keys: readonly string[] };

type PushSides = {
  readonly file: FoundFile;
  /** What the file says; its `_id` does not count. */
  readonly doc: Written;
  readonly stored: StoredDocument;
  /** What both had when they last agreed. */
  readonly agreed: Written | undefined;
};

/** Brings what a file and the database have changed together. */
export function mergeForPush(sides: PushSides): PushContent | PushConflict {
  const { file, stored } = sides;
  const whole = fileContent(sides.doc);
  if (sides.agreed === undefined) return { content: whole, kept: [] };
  const agreed = only(isMerged, sides.agreed);
  const ours = only(isMerged, whole);
  const theirs = contentForFile(stored, (key) => Object.hasOwn(agreed, key));
  const clear = new Set(findClearSecrets(theirs));
  const base = remembered(agreed, theirs, { clear, path: '' });
  const { value, conflicts } = mergeEdits(base, ours, theirs);
  if (conflicts.length > 0) {
    const keys = conflicts.map(({ path }) => path);
    return conflict(file, keys, 'changed in the file and in the database since they last agreed');
  }
  const merged = value as Written;
  const kept = changesBetween(ours, merged).map(({ path }) => pathText(path));
  if (kept.length > 0 && changesBetween(merged, theirs).length > 0) {
    const [first] = checkDocument(file.shown, { ...merged, _id: stored._id });
    if (first !== undefined) {
      const because = `changed in the database, and with the changes of the file the document is not valid (${first.message})`;
      return conflict(file, kept, because);
    }
  }
  return { content: { ...only((key) => !isMerged(key), whole), ...merged }, kept };
}

/** What is not stored again, and why; undefined: the file is stored. */
export function leftRemoved(
  file: FoundFile,
  doc: Written,
  agreed: Written | undefined,
): { readonly because: string } | PushConflict | undefined {
  if (agreed === undefined) return undefined;
  const ours = withoutClearSecrets(fileContent(doc));
  if (isSameJson(only(isMerged, ours), only(isMerged, agreed))) {
    return {
      because:
        'removed in the database; `tws pull --prune` removes the file, `tws push --force` stores it again',
    };
  }
  const message =
    'changed here, and removed in the database since they last agreed; `tws pull --theirs --prune` removes the file, `tws push --force` stores it again.';
  return { file: file.shown, path: '', message, keys: [] };
}

/** Why a document whose file was removed is not removed; undefined: it has not changed since both last agreed. */
export function keptFromPrune(
  doc: StoredDocument,
  agreed: SyncedEntry | undefined,
): PushConflict | undefined {
  if (agreed === undefined) return undefined;
  const { file } = agreed;
  const content = only(isMerged, agreed.content);
  const theirs = contentForFile(doc, (key) => Object.hasOwn(content, key));
  const changes = changesBetween(content, withoutClearSecrets(theirs));
  if (changes.length === 0) return undefined;
  const keys = changes.map(({ path }) => pathText(path));
  const message = `removed here, and "${doc._id}" has changed in the database since they last agreed (${keys.join(', ')}); \`tws pull --theirs\` writes the file again, \`tws push --prune --force\` removes the document.`;
  return { file, path: '', message, keys };
}

function conflict({ shown }: FoundFile, keys: readonly string[], because: string): PushConflict {
  const message = `${keys.join(', ')} ${because}; \`tws pull --theirs\` takes what the database has, \`tws push --force\` stores what the file has.`;
  return { file: shown, path: '', message, keys };
}

/** What a push says of keys that it leaves as they are in the database. */
export function keptText(kept: readonly string[]): string {
  return `changed in the database: ${kept.join(', ')}; \`tws pull\` brings it into the file`;
}

const isMerged = (key: string): boolean =>
  !key.startsWith('_') && key !== 'current' && !currentRecordKeys.includes(key);

function only(wanted: (key: string) => boolean, doc: Written): Written {
  return Object.fromEntries(Object.entries(doc).filter(([key]) => wanted(key)));
}

type ClearAt = { readonly clear: ReadonlySet<string>; readonly path: string };

/** What both had, with the secrets that are not remembered as the database has them. */
function remembered(agreed: unknown, theirs: unknown, { clear, path }: ClearAt): unknown {
  if (agreed === null && clear.has(path)) return theirs;
  if (Array.isArray(agreed) && Array.isArray(theirs)) {
    return agreed.map((item, i) =>
      remembered(item, theirs[i], { clear, path: fieldBelow(path, i) }),
    );
  }
  if (!isObject(agreed) || !isObject(theirs)) return agreed;
  return Object.fromEntries(
    Object.entries(agreed).map(([key, item]) => {
      const their = Object.hasOwn(theirs, key) ? theirs[key] : undefined;
      return [key, remembered(item, their, { clear, path: fieldBelow(path, key) })];
    }),
  );
}
