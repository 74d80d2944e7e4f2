import { existsSync } from 'node:fs';
import type { Client, NamedKind } from '../client.js';
import type { Config } from '../config/load.js';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { currentRecordKeys, isMarkedCurrent } from '../model/flow-versions.js';
import { checkReferences } from '../validate/references.js';
import { samples } from '../validate/samples.js';
import type { FileProblem, Written } from '../validate/written.js';
import type { GoodFile } from './check-files.js';
import { chosenOwner } from './chosen-owner.js';
import { contentHash, jsonFilesIn, readJsonFile } from './files.js';
import type { Io } from './io.js';
import { definitionKey, mayRemove, type PruneFacts } from './may-remove.js';
import { ownFolder } from './paths.js';
import { problemLine, showWarnings } from './problems.js';
import { confirming } from './prompt.js';
import type { PushOptions } from './push-files.js';
import type { PushStep } from './push-plan.js';
import { storedOfKind } from './schedules-and-hooks.js';

/** Which stored tasks, flows, schedules and hooks may go when no file holds them. */
export type PruneScope = Pick<PruneFacts, 'project' | 'kinds' | 'owner'> & {
  /** The folder whose files hold what stays. */
  readonly folder: string;
};

/**
 * What `--prune` may remove: what the flags push whole folders of.
 * @throws TwsError `usage` where the files cannot tell what is superfluous
 */
export function pruneScope(
  { map, tasks, flows, schedules, hooks }: PushOptions,
  config: Config,
): PruneScope {
  const kinds = [
    ...(map || hooks ? ['hook' as const] : []),
    ...(map || schedules ? ['schedule' as const] : []),
    ...(map || flows ? ['flow' as const] : []),
    ...(map || tasks ? ['task' as const] : []),
  ];
  if (kinds.length === 0) {
    throw problem('usage', {
      reason: '--prune needs --map, --tasks, --flows, --schedules or --hooks.',
    });
  }
  const { project, root } = config;
  const folder = ownFolder(root);
  if (!existsSync(folder)) {
    const reason = `--prune removes what the couch/tws of this project once brought; there is no couch/tws in ${root}.`;
    throw problem('usage', { reason });
  }
  const owner = chosenOwner(config);
  return { project, kinds, owner, folder };
}

/**
 * The stored definitions that the folder of this project brought and that no file holds any more; what
 * names another one comes before it.
 * @throws TwsError `file_unusable` for a file of the folder that holds no JSON object
 */
export async function superfluous(
  client: Client,
  files: readonly GoodFile[],
  steps: readonly PushStep[],
  scope: PruneScope,
): Promise<readonly StoredDocument[]> {
  const ids = steps.map((step) => (step.kind === 'skip' ? step.id : step.doc._id));
  const facts: PruneFacts = {
    ...scope,
    keptIds: new Set(ids.filter((id) => id !== undefined)),
    held: [...files.map(({ doc }) => doc), ...(await documentsIn(scope.folder)), ...samples()],
  };
  const found: StoredDocument[] = [];
  for (const kind of scope.kinds) {
    found.push(...(await storedOf(client, kind)).filter((doc) => mayRemove(doc, facts)));
  }
  return found;
}

/** Every stored definition of a kind. */
export function storedOf(client: Client, kind: NamedKind): Promise<readonly StoredDocument[]> {
  return kind === 'schedule' || kind === 'hook'
    ? storedOfKind(client, kind)
    : client.definitions(kind);
}

/** What all files of a folder hold, also those that are not pushed because of their name or their kind. */
async function documentsIn(folder: string): Promise<readonly Written[]> {
  const paths = await jsonFilesIn(folder);
  const read = await Promise.all(
    paths.map((path) => readJsonFile({ path, shown: path, named: false })),
  );
  return read.map((one) => {
    if (one.ok) return one.doc;
    const reason = `--prune cannot read which document it holds. ${one.problem.message}`;
    throw problem('file_unusable', { file: one.problem.file, reason });
  });
}

/** This push may have taken `current` from a version that goes; anything else that has changed is a conflict. */
async function removeAsPlanned(doc: StoredDocument, client: Client): Promise<void> {
  try {
    await client.remove(doc._id, doc._rev);
  } catch (error) {
    const isLost = error instanceof TwsError && error.code === 'document_conflict';
    const now = isLost && doc['type'] === 'flow' ? await client.get(doc._id) : undefined;
    // One that was made current since the plan was made is in use by whoever did that.
    if (now === undefined || isMarkedCurrent(now)) throw error;
    if (contentBut(now) !== contentBut(doc)) throw error;
    await client.remove(now._id, now._rev);
  }
}

/** The content of a flow but for what says which version is current. */
function contentBut(flow: StoredDocument): string {
  const content = Object.entries(flow).filter(([key]) => !ofCurrent.has(key));
  return contentHash(Object.fromEntries(content));
}

const ofCurrent: ReadonlySet<string> = new Set(['_rev', 'current', ...currentRecordKeys]);

/** What stays and names something that would go: each is a problem. */
export async function brokenBy(
  client: Client,
  files: readonly GoodFile[],
  removed: readonly StoredDocument[],
): Promise<readonly FileProblem[]> {
  if (removed.length === 0) return [];
  const gone = new Set(removed.map(({ _id }) => _id));
  const inFiles = new Set(files.map(({ doc }) => definitionKey(doc)));
  const kinds = ['task', 'flow', 'schedule', 'hook'] as const;
  const stored = (await Promise.all(kinds.map((kind) => storedOf(client, kind)))).flat();
  const staying = stored.filter((doc) => !gone.has(doc._id) && !inFiles.has(definitionKey(doc)));
  const documents = [
    ...files.map(({ file, doc }) => ({ file: file.shown, doc })),
    ...staying.map((doc) => ({ file: `${doc._id} in the database`, doc })),
  ];
  const keyOf = ({ file, path }: FileProblem): string => JSON.stringify([file, path]);
  const before = await checkReferences(documents, (kind) =>
    Promise.resolve(removed.filter(({ type }) => type === kind)),
  );
  const known = new Set(before.warnings.map(keyOf));
  const after = await checkReferences(documents, () => Promise.resolve([]));
  return after.warnings
    .filter((warning) => !known.has(keyOf(warning)))
    .map(({ file, path }) => ({ file, path, message: 'It names what --prune would remove.' }));
}

/**
 * Whether a person agrees to the removal, or nobody is to be asked. `uses`: what still uses something of it, which is
 * shown first.
 * @throws TwsError `confirmation_needed`
 */
export async function isRemovalAgreed(
  { removed, uses }: { removed: readonly StoredDocument[]; uses: readonly FileProblem[] },
  confirm: boolean,
  io: Io,
): Promise<boolean> {
  if (removed.length === 0) return true;
  if (confirm && !io.interactive) {
    const inUse = uses.map(problemLine);
    throw problem('confirmation_needed', { count: removed.length, inUse });
  }
  showWarnings(uses, io);
  if (!confirm) return true;
  const ask = await confirming(io, 'Removing documents');
  const names = removed.map(nameOf).join(', ');
  return ask.confirm(`Remove ${names}?`, false);
}

function nameOf(doc: StoredDocument): string {
  const isCurrent = doc['type'] === 'flow' && isMarkedCurrent(doc);
  return `${String(doc['type'])} ${doc._id}${isCurrent ? ' (the current version)' : ''}`;
}

/** Removes them; `gone` is told of each. @throws TwsError `document_conflict` when one has changed meanwhile */
export async function removeAll(
  removed: readonly StoredDocument[],
  client: Client,
  io: Io,
  gone: (id: string) => void,
): Promise<readonly { readonly id: string; readonly action: 'removed' }[]> {
  for (const doc of removed) {
    const { _id } = doc;
    await removeAsPlanned(doc, client);
    gone(_id);
    io.out(`removing: ${_id} (no file holds it)`);
  }
  return removed.map(({ _id: id }) => ({ id, action: 'removed' }));
}
