import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Client, NamedKind } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { versionOf } from '../../model/flow-versions.js';
import { notifyListId } from '../../model/notify-list.js';
import { queueControlId } from '../../model/queue-control.js';
import { ownerOf } from '../../model/task.js';
import { samples } from '../../validate/samples.js';
import { contentHash } from '../files.js';
import { definitionKey } from '../may-remove.js';
import { isInFolder, ownFolder, shownPath, type PathBase } from '../paths.js';
import { storedOf } from '../push-prune.js';
import { contentForFile, fileNameFor, saysInNewFile } from './file-content.js';
import type { LocalFile } from './local-files.js';
import { planFile, planNew, type PullStep, type Side } from './steps.js';
import type { Synced } from './synced.js';

/** What a pull knows before it decides. */
export type PullFacts = {
  readonly place: PathBase;
  /** The project; what other projects have pushed is theirs. */
  readonly project: string;
  /** Only new documents of this owner; absent: of any owner. */
  readonly owner: string | undefined;
  readonly files: readonly LocalFile[];
  readonly synced: Synced;
  readonly kinds: readonly NamedKind[];
  /** Whether a file was asked for; absent: all are, and documents that have no file. */
  readonly isNamed: ((path: string) => boolean) | undefined;
  /** What conflicts are settled for; absent: they are told. */
  readonly prefer: Side | undefined;
};

/** Decides what a pull does with each file and each document; reads the database and writes nothing. */
export async function planPull(client: Client, facts: PullFacts): Promise<readonly PullStep[]> {
  const { files, kinds, isNamed, synced } = facts;
  const stored = (await Promise.all(kinds.map((kind) => storedOf(client, kind)))).flat();
  const find = await finder(client, stored, files);
  const held = new Set<string>();
  const steps: PullStep[] = [];
  const told = new Set(files.filter(({ doc }) => doc['current'] === true).map(keyOfFlow));
  for (const file of files) {
    const doc = find(file);
    const isSecond = doc !== undefined && held.has(doc._id);
    if (doc !== undefined) held.add(doc._id);
    if (file.isDraft || !isWanted(file, facts) || isNamed?.(file.file.path) === false) continue;
    const isTold = told.has(keyOfFlow(file));
    steps.push(planFile({ file, doc, isSecond, isTold, synced, prefer: facts.prefer }));
  }
  const kept = new Set(steps.flatMap(({ id }) => id ?? []));
  if (isNamed !== undefined) return steps;
  const rest = stored.filter(
    (doc) => !held.has(doc._id) && !kept.has(doc._id) && isOurs(doc, facts),
  );
  return [...steps, ...newSteps(rest, facts)];
}

function keyOfFlow({ doc }: LocalFile): string {
  return definitionKey(doc);
}

/** Nameless documents are pulled with all others, or when their file is named. */
function isWanted({ doc }: LocalFile, { kinds }: PullFacts): boolean {
  const { type } = doc;
  return isNameless(doc) ? kinds.length === allKinds.length : kinds.some((kind) => kind === type);
}

/** The kinds of documents that have names. */
export const allKinds: readonly NamedKind[] = ['task', 'flow', 'schedule', 'hook'];

const isNameless = ({ type }: LocalFile['doc']): boolean =>
  type === 'queue-control' || type === 'notify';

type Find = (file: LocalFile) => StoredDocument | undefined;

/** Finds the document of a file: by its id, else by kind, name, owner and version, as a push does. */
async function finder(
  client: Client,
  stored: readonly StoredDocument[],
  files: readonly LocalFile[],
): Promise<Find> {
  const byId = new Map(stored.map((doc) => [doc._id, doc]));
  const byKey = new Map(stored.map((doc) => [keyWithVersion(doc), doc]));
  for (const { doc } of files) {
    const id = idOf(doc);
    if (id === undefined || byId.has(id)) continue;
    const found = await client.get(id);
    if (found !== undefined) byId.set(id, found);
  }
  return ({ doc }) => {
    const id = idOf(doc);
    const found = id === undefined ? undefined : byId.get(id);
    return found ?? (isNameless(doc) ? undefined : byKey.get(keyWithVersion(doc)));
  };
}

function idOf(doc: LocalFile['doc']): string | undefined {
  const { _id, type, queue } = doc;
  if (typeof _id === 'string' && _id !== '') return _id;
  if (type === 'notify') return notifyListId(ownerOf(doc));
  return type === 'queue-control' ? queueControlId(String(queue)) : undefined;
}

function keyWithVersion(doc: LocalFile['doc']): string {
  return `${definitionKey(doc)}${doc['type'] === 'flow' ? (versionOf(doc) ?? '') : ''}`;
}

/** Whether a document without a file is one of this project: not another's, and no sample as it is shipped. */
function isOurs(doc: StoredDocument, { project, owner, synced }: PullFacts): boolean {
  if (synced.has(doc._id)) return true;
  const { pushed_from: bringer } = doc;
  if (bringer !== undefined && bringer !== project) return false;
  if (owner !== undefined && ownerOf(doc) !== owner) return false;
  const key = definitionKey(doc);
  const sample = samples().find((one) => definitionKey(one) === key);
  return (
    sample === undefined || contentHash(sample) !== contentHash(contentForFile(doc, () => false))
  );
}

function newSteps(docs: readonly StoredDocument[], facts: PullFacts): readonly PullStep[] {
  const { place, synced, prefer } = facts;
  const taken = new Set<string>();
  return docs.map((doc) => {
    const before = synced.get(doc._id);
    const path = newPath(doc, before?.file, { place, taken });
    taken.add(path.toLowerCase());
    const schema = relative(dirname(path), join(place.root, 'couch', 'schemas'));
    const shown = shownPath(path, place);
    return planNew({ doc, path, shown, schema, before, prefer });
  });
}

/** Where a document without a file goes: where it was, else into the folder of its kind, as `tws new` has it. */
function newPath(
  doc: StoredDocument,
  before: string | undefined,
  { place, taken }: { readonly place: PathBase; readonly taken: ReadonlySet<string> },
): string {
  const isTaken = (path: string): boolean => existsSync(path) || taken.has(path.toLowerCase());
  const own = ownFolder(place.root);
  const was = before === undefined ? undefined : join(place.root, before);
  if (was !== undefined && isInFolder(own, was) && !isTaken(was)) return was;
  const folder = join(own, `${String(doc['type'])}s`);
  const name = fileNameFor(contentForFile(doc, saysInNewFile), (one) =>
    isTaken(join(folder, `${one}.json`)),
  );
  return join(folder, `${name}.json`);
}
