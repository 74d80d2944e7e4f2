import type { Client } from '../../client.js';
import { findPluginFiles } from '../../plugin/find.js';
import { shippedPluginFolder } from '../../plugin/loader.js';
import { pluginOf } from '../../model/task.js';
import { findClearSecrets } from '../../secrets/parameters.js';
import { readJsonFile, type FileProblem, type FoundFile, type Written } from '../files.js';
import { isShipped } from '../paths.js';
import { checkDocument } from './document.js';
import { checkReferences, type Stored } from './references.js';

/** A file whose document may be written. */
export type GoodFile = {
  readonly file: FoundFile;
  readonly text: string;
  readonly doc: Written;
};

export type CheckedFiles = {
  readonly good: readonly GoodFile[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
};

export type CheckOptions = {
  /** Where names are looked up that no file defines; absent: they are not looked up. */
  readonly client?: Client | undefined;
  /** Folders of the project's plugins. */
  readonly plugins: readonly string[];
};

/** Reads and checks files, each by itself and all together. */
export async function checkFiles(
  files: readonly FoundFile[],
  { client, plugins }: CheckOptions,
): Promise<CheckedFiles> {
  const problems: FileProblem[] = [];
  const good: GoodFile[] = [];
  for (const read of await Promise.all(files.map(readJsonFile))) {
    if (!read.ok) {
      problems.push(read.problem);
      continue;
    }
    const { file, text, doc } = read;
    const found = checkDocument(file.shown, doc);
    problems.push(...found);
    if (found.length === 0) good.push({ file, text, doc });
  }
  const documents = good.map(({ file, doc }) => ({ file: file.shown, doc }));
  const references = await checkReferences(documents, storedIn(client));
  return {
    good,
    problems: [...problems, ...references.problems],
    warnings: [
      ...(client === undefined ? [] : references.warnings),
      ...(await pluginWarnings(good, plugins)),
      ...secretWarnings(good),
    ],
  };
}

function storedIn(client: Client | undefined): Stored {
  return (kind) => (client === undefined ? Promise.resolve([]) : client.definitions(kind));
}

/** Another engine may have the plugin, so this is no mistake yet. */
async function pluginWarnings(
  files: readonly GoodFile[],
  folders: readonly string[],
): Promise<readonly FileProblem[]> {
  const found = await findPluginFiles([...folders, shippedPluginFolder()]);
  const names = new Set(found.map(({ name }) => name));
  return files.flatMap(({ file, doc }) => {
    const { type, name, plugin, flow } = doc;
    if (type !== 'task' || typeof name !== 'string' || flow !== undefined) return [];
    const wanted = pluginOf(typeof plugin === 'string' ? { name, plugin } : { name });
    if (names.has(wanted)) return [];
    const message = `There is no plugin "${wanted}" in ${folders.join(', ')} and none of that name comes with tws.`;
    return [{ file: file.shown, path: 'plugin', message }];
  });
}

/** The samples sign in to servers of this machine only, with credentials everybody knows. */
function secretWarnings(files: readonly GoodFile[]): readonly FileProblem[] {
  return files
    .filter(({ file }) => !isShipped(file.path))
    .flatMap(({ file, doc }) =>
      findClearSecrets(doc).map((path) => ({
        file: file.shown,
        path,
        message:
          'The secret stands here in clear, readable by everybody who can read the document; put the text that `tws encrypt` prints in its place.',
      })),
    );
}
