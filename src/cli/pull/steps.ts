import { currentRecordKeys } from '../../model/flow-versions.js';
import type { StoredDocument } from '../../model/document.js';
import { isSameJson, mergeEdits } from '../../model/three-way.js';
import { checkDocument } from '../../validate/document.js';
import type { Written } from '../../validate/written.js';
import { fileContent } from '../files.js';
import { isOther, otherText } from '../own-ids.js';
import { withChanges, withId } from '../write-back.js';
import {
  contentForFile,
  newClearSecrets,
  newFileText,
  saysInNewFile,
  withoutClearSecrets,
} from './file-content.js';
import type { LocalFile } from './local-files.js';
import type { Synced, SyncedEntry } from './synced.js';
import { changesBetween, pathText, type JsonChange } from './json-changes.js';

/** Which side a conflict is settled for: `ours` is the file, `theirs` the database. */
export type Side = 'ours' | 'theirs';

/** What is to be done with one file. `agreed`: what both have in common from then on; `undefined`: nothing. */
export type PullStep = {
  /** As it is shown to people. */
  readonly shown: string;
  readonly id?: string;
} & (
  | { readonly kind: 'skip'; readonly because: string; readonly agreed?: Written }
  | { readonly kind: 'forget'; readonly because: string }
  | {
      readonly kind: 'update';
      readonly file: LocalFile;
      readonly text: string;
      readonly keys: readonly string[];
      readonly agreed: Written;
    }
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly text: string;
      readonly agreed: Written;
    }
  /** The document is gone. */
  | { readonly kind: 'gone'; readonly file: LocalFile }
  /** `keys`: where both differ. */
  | { readonly kind: 'conflict'; readonly keys: readonly string[]; readonly because: string }
);

/** A file, the document that it stands for, and what is known of both. */
export type FileFacts = {
  readonly file: LocalFile;
  readonly doc: StoredDocument | undefined;
  /** Another file stands for the same document. */
  readonly isSecond: boolean;
  /** A file says which version of the flow is current. */
  readonly isTold: boolean;
  readonly synced: Synced;
  readonly prefer: Side | undefined;
};

/** What becomes of a file. */
export function planFile(facts: FileFacts): PullStep {
  const { file, doc, isSecond } = facts;
  const { shown } = file.file;
  if (doc === undefined) return planAbsent(facts);
  const at = { shown, id: doc._id };
  if (isSecond) {
    return conflict(at, `another file stands for "${doc._id}", too; remove one of them`);
  }
  if (doc['type'] !== file.doc['type']) {
    return conflict(at, `document "${doc._id}" is a ${String(doc['type'])}`);
  }
  // What has another name in the database since both last agreed was renamed there.
  const agreed = facts.synced.get(doc._id)?.content;
  if (isOther(file.doc, doc) && (agreed === undefined || isOther(file.doc, agreed))) {
    return conflict(at, otherText(file.doc, doc).replace(/\.$/, ''));
  }
  return planMerge(facts, doc);
}

type At = { readonly shown: string; readonly id: string };

function conflict(at: At, because: string, keys: readonly string[] = []): PullStep {
  return { ...at, kind: 'conflict', keys, because };
}

/** The database has no document for it: it was removed there, or never stored. */
function planAbsent({ file, synced, prefer }: FileFacts): PullStep {
  const { shown } = file.file;
  const { _id } = file.doc;
  const id = typeof _id === 'string' ? _id : undefined;
  const before = id === undefined ? undefined : synced.get(id);
  if (id === undefined || before === undefined) {
    const named = id === undefined ? {} : { id };
    return { kind: 'skip', shown, ...named, because: 'not in the database; push it' };
  }
  const ours = withoutClearSecrets(fileContent(file.doc));
  if (isSameJson(ours, before.content) || prefer === 'theirs')
    return { kind: 'gone', shown, id, file };
  if (prefer === 'ours') {
    return { kind: 'forget', shown, id, because: 'removed in the database, and kept here' };
  }
  return conflict({ shown, id }, 'changed here, and removed in the database');
}

function planMerge({ file, isTold, synced, prefer }: FileFacts, doc: StoredDocument): PullStep {
  const at = { shown: file.file.shown, id: doc._id };
  const ours = fileContent(file.doc);
  const before = synced.get(doc._id)?.content;
  const says = (key: string): boolean =>
    Object.hasOwn(ours, key) ||
    Object.hasOwn(before ?? {}, key) ||
    (isTold && key.startsWith('current'));
  const theirs = contentForFile(doc, (key) => !currentRecordKeys.includes(key) && says(key));
  const side = prefer === 'theirs' ? 'theirs' : 'mine';
  const { value, conflicts } = mergeEdits(before, ours, theirs, () => side);
  if (conflicts.length > 0 && prefer === undefined) {
    return conflict(
      at,
      'changed here and in the database',
      conflicts.map(({ path }) => path),
    );
  }
  const merged = value as Written;
  const changes = [...idChange(file, doc), ...changesBetween(ours, merged)];
  if (changes.length === 0) {
    const isSame = isSameJson(ours, theirs);
    const because = isSame ? 'already up to date' : 'changed here only; push it';
    return { ...at, kind: 'skip', because, agreed: theirs };
  }
  const unfit = unfitness(at.shown, ours, { ...merged, _id: doc._id });
  if (unfit !== undefined) return conflict(at, ...unfit);
  const keys = changes.map(({ path }) => pathText(path));
  const changed = withChanges(file.text, changes);
  const text = file.doc['_id'] === undefined ? withId(changed, doc._id) : changed;
  return { ...at, kind: 'update', file, text, keys, agreed: theirs };
}

/** A file may name a document by an id that it no longer has. */
function idChange({ doc: { _id } }: LocalFile, doc: StoredDocument): readonly JsonChange[] {
  return _id === undefined || _id === doc._id ? [] : [{ path: ['_id'], value: doc._id }];
}

/** Why a text is not written into a file, with the paths in question. */
function unfitness(
  shown: string,
  before: Written,
  after: Written,
): readonly [because: string, keys: readonly string[]] | undefined {
  const secrets = newClearSecrets(before, after);
  if (secrets.length > 0) {
    const because =
      'the database holds a secret in clear; put the text that `tws encrypt` prints in its place there';
    return [because, secrets];
  }
  const [first] = checkDocument(shown, after);
  return first === undefined
    ? undefined
    : [`what the database holds is not valid: ${first.message}`, [first.path]];
}

/** A document without a file. `before`: what it had in common with the file that was removed. */
export type NewFacts = {
  readonly doc: StoredDocument;
  readonly path: string;
  readonly shown: string;
  /** The way from its folder to the JSON Schemas. */
  readonly schema: string;
  readonly before: SyncedEntry | undefined;
  readonly prefer: Side | undefined;
};

/** What becomes of a document that no file stands for. */
export function planNew({ doc, path, shown, schema, before, prefer }: NewFacts): PullStep {
  const at = { shown, id: doc._id };
  if (before !== undefined && prefer !== 'theirs') {
    const theirs = contentForFile(doc, (key) => Object.hasOwn(before.content, key));
    const isSame = isSameJson(withoutClearSecrets(theirs), before.content);
    if (isSame || prefer === 'ours') {
      const because = 'its file was removed here; `tws push --prune` removes the document';
      return { ...at, kind: 'skip', because, agreed: theirs };
    }
    return conflict(at, 'removed here, and changed in the database');
  }
  const content = contentForFile(doc, saysInNewFile);
  const unfit = unfitness(shown, {}, { ...content, _id: doc._id });
  if (unfit !== undefined) return conflict(at, ...unfit);
  return {
    ...at,
    kind: 'create',
    path,
    text: newFileText(doc._id, content, schema),
    agreed: content,
  };
}
