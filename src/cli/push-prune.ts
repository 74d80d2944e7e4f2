import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, DefinitionKind } from '../client.js';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { ownerOf } from '../model/task.js';
import { checkReferences } from '../validate/references.js';
import type { FileProblem } from '../validate/written.js';
import type { GoodFile } from './check-files.js';
import type { Io } from './io.js';
import { questions } from './prompt.js';
import type { PushOptions } from './push-files.js';
import type { PushStep } from './push-plan.js';

/** Which stored tasks and flows go when no file holds them. */
export type PruneScope = {
  readonly kinds: readonly DefinitionKind[];
  /** Only those of this owner; absent: those of each owner that the files name. */
  readonly owner: string | undefined;
};

/**
 * What `--prune` may remove: what the flags push whole folders of.
 * @throws TwsError `usage` where the files cannot tell what is superfluous
 */
export function pruneScope({ map, tasks, flows }: PushOptions, config: Config): PruneScope {
  const kinds = [
    ...(map || flows ? ['flow' as const] : []),
    ...(map || tasks ? ['task' as const] : []),
  ];
  if (kinds.length === 0) {
    throw problem('usage', { reason: '--prune needs --map, --tasks or --flows.' });
  }
  if (!existsSync(join(config.root, 'couch', 'tws'))) {
    const reason = `--prune needs the files of a project; there is no couch/tws in ${config.root}.`;
    throw problem('usage', { reason });
  }
  const owner = config.origins['owner'] === 'default' ? undefined : config.owner;
  return { kinds, owner };
}

/** The stored definitions that no file holds; flows come before the tasks that they name. */
export async function superfluous(
  client: Client,
  files: readonly GoodFile[],
  steps: readonly PushStep[],
  { kinds, owner }: PruneScope,
): Promise<readonly StoredDocument[]> {
  const kept = new Set(steps.map((step) => (step.kind === 'skip' ? step.id : step.doc._id)));
  const definitions = files.map(({ doc }) => doc).filter(({ type }) => type !== 'job');
  const owners = owner === undefined ? new Set(definitions.map(ownerOf)) : new Set([owner]);
  const found: StoredDocument[] = [];
  for (const kind of kinds) {
    const stored = await client.definitions(kind);
    found.push(...stored.filter((doc) => !kept.has(doc._id) && owners.has(ownerOf(doc))));
  }
  return found;
}

/** What stays and names something that would go: each is a problem. */
export async function brokenBy(
  client: Client,
  files: readonly GoodFile[],
  removed: readonly StoredDocument[],
): Promise<readonly FileProblem[]> {
  if (removed.length === 0) return [];
  const gone = new Set(removed.map(({ _id }) => _id));
  const inFiles = new Set(files.map(({ doc }) => keyOfDefinition(doc)));
  const stored = [...(await client.definitions('task')), ...(await client.definitions('flow'))];
  const staying = stored.filter((doc) => !gone.has(doc._id) && !inFiles.has(keyOfDefinition(doc)));
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

const keyOfDefinition = (doc: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([doc['type'], doc['name'], ownerOf(doc)]);

/** Whether a person agrees to the removal, or nobody is to be asked. @throws TwsError `confirmation_needed` */
export async function mayRemove(
  removed: readonly StoredDocument[],
  confirm: boolean,
  io: Io,
): Promise<boolean> {
  if (removed.length === 0 || !confirm) return true;
  if (!io.interactive) throw problem('confirmation_needed', { count: removed.length });
  const ask = await questions(io, 'Whether to remove documents (or say --no-confirm)');
  const names = removed.map(({ type, _id }) => `${String(type)} ${_id}`).join(', ');
  return ask.confirm(`Remove ${names}?`, false);
}

/** Removes them. @throws TwsError `document_conflict` when one has changed meanwhile */
export async function removeAll(
  removed: readonly StoredDocument[],
  client: Client,
  io: Io,
): Promise<readonly { readonly id: string; readonly action: 'removed' }[]> {
  for (const { _id, _rev } of removed) {
    await client.remove(_id, _rev);
    io.out(`removing: ${_id} (no file holds it)`);
  }
  return removed.map(({ _id: id }) => ({ id, action: 'removed' }));
}
