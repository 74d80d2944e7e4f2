import { checkContents } from './contents.js';
import { checkDocument } from './document.js';
import { unreadKeys } from '../reading/unread-keys.js';
import { checkReferences } from './references.js';
import type { DefinitionKind, StoredDocument } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { findClearSecrets } from '../secrets/parameters.js';
import { excessOf } from './limits.js';
import type { Written } from './written.js';

/** The checks of `tws push` and `tws submit`, for a document that comes by itself. */

/** Where stored definitions are looked up. */
type DefinitionSource = {
  readonly definitions: (kind: DefinitionKind) => Promise<readonly StoredDocument[]>;
};

export type CheckedDefinition = {
  readonly problems: readonly Problem[];
  /** What is allowed and yet hardly meant. */
  readonly warnings: readonly Problem[];
};

/** What is wrong with a document by itself. */
export function documentProblems(doc: Written): readonly Problem[] {
  const excess = excessOf(doc);
  return excess === undefined ? checkDocument('', doc).map(bare) : [excess];
}

/** What a job that is valid is told nevertheless. */
export function warningsOfJob(doc: Written): readonly Problem[] {
  return [...unreadKeys(doc), ...clearSecrets(doc)];
}

/**
 * What its flow, the tasks in it and their plugins will say of a job's parameters; the definitions are
 * those that the job can see.
 */
export async function contentsOfJob(
  doc: Written,
  client: DefinitionSource,
  plugins: Pick<PluginRegistry, 'get'> = { get: () => undefined },
): Promise<readonly Problem[]> {
  const seen = [ownerOf(doc), defaultOwner];
  const stored = async (kind: DefinitionKind) =>
    (await client.definitions(kind)).filter((one) => seen.includes(ownerOf(one)));
  const written = [{ file: '', doc }];
  const { definitions } = await checkReferences(written, stored);
  return checkContents(written, { definitions, plugins }).map(bare);
}

/** Checks a task or flow by itself and against all others that are stored. */
export async function checkDefinition(
  doc: Written & { readonly _id: string },
  client: DefinitionSource,
  plugins: Pick<PluginRegistry, 'get'> = { get: () => undefined },
): Promise<CheckedDefinition> {
  const excess = excessOf(doc);
  if (excess !== undefined) return { problems: [excess], warnings: [] };
  const own = documentProblems(doc);
  if (own.length > 0) return { problems: own, warnings: unreadKeys(doc) };
  const written = [{ file: doc._id, doc }];
  // The stored edition of this document gives way to this one, also under another name.
  const stored = async (kind: DefinitionKind) =>
    (await client.definitions(kind)).filter(({ _id }) => _id !== doc._id);
  const { problems, warnings, definitions } = await checkReferences(written, stored);
  const contents = checkContents(written, { definitions, plugins });
  return {
    problems: problems.map(bare),
    warnings: [
      ...unreadKeys(doc),
      ...warnings.map(bare),
      ...contents.map(bare),
      ...clearSecrets(doc),
    ],
  };
}

function bare({ path, message }: Problem): Problem {
  return { path, message };
}

function clearSecrets(doc: Written): readonly Problem[] {
  return findClearSecrets(doc).map((path) => ({
    path,
    message:
      'The secret stands here in clear, readable by everybody who can read the document; put the text that `tws encrypt` prints in its place.',
  }));
}
