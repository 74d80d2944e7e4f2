import type { Client } from '../client.js';
import { closest } from '../model/closest.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { branchPlaces, placesIn } from '../reading/check.js';
import type { Flow } from '../model/flow.js';
import { parseDocument } from '../reading/parse.js';
import { pluginOf } from '../model/task.js';
import type { Structure } from '../model/tree.js';
import { findClearSecrets } from '../secrets/parameters.js';
import { readJsonFile, type FoundFile } from './files.js';
import { idProblems } from './own-ids.js';
import type { FileProblem, Written } from '../validate/written.js';
import { isShipped } from './paths.js';
import { loadProjectPlugins } from './plugins.js';
import { checkContents } from '../validate/contents.js';
import { checkDocument } from '../validate/document.js';
import { unreadKeys } from '../reading/unread-keys.js';
import { scheduleWarnings } from '../validate/schedules.js';
import { checkReferences } from '../validate/references.js';
import { asWritten } from '../validate/written-path.js';

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
  /** Where names are looked up that no file defines; absent: they may be there, which is warned of. */
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
  const stray: FileProblem[] = [];
  const good: GoodFile[] = [];
  for (const read of await Promise.all(files.map(readJsonFile))) {
    if (!read.ok) {
      problems.push(read.problem);
      continue;
    }
    const { file, text, doc } = read;
    const found = checkDocument(file.shown, doc);
    problems.push(...found);
    // A mistyped key may be the cause of what is missing.
    stray.push(...unreadKeys(doc).map((key) => ({ file: file.shown, ...key })));
    if (found.length === 0) good.push({ file, text, doc });
  }
  const ids = await idProblems(
    good.map(({ file, doc }) => ({ shown: file.shown, doc })),
    client,
  );
  problems.push(...ids);
  const documents = good.map(({ file, doc }) => ({ file: file.shown, doc }));
  const { definitions, ...references } = await checkReferences(
    documents,
    client && ((kind) => client.definitions(kind)),
  );
  const registry = await loadProjectPlugins(plugins);
  return {
    good,
    problems: [...problems, ...references.problems],
    warnings: [
      ...stray,
      ...references.warnings,
      ...checkContents(documents, { definitions, plugins: registry }),
      ...pluginWarnings(good, plugins, registry),
      ...secretWarnings(good),
      ...scheduleWarnings(documents, Date.now()),
    ],
  };
}

/** Another engine may have the plugin, so this is no mistake yet. */
function pluginWarnings(
  files: readonly GoodFile[],
  folders: readonly string[],
  registry: PluginRegistry,
): readonly FileProblem[] {
  const found = new Map(registry.list().map((plugin) => [plugin.name, plugin]));
  return files.flatMap(({ file, doc }) =>
    pluginsIn(doc).flatMap(({ wanted, path }) => {
      const { state, problem } = found.get(wanted) ?? { state: 'absent' };
      if (state === 'ready') return [];
      const close = closest(wanted, registry.names());
      const todo = close === undefined ? 'an engine must have it.' : `did you mean "${close}"?`;
      const absent = `There is no plugin "${wanted}" in ${folders.join(', ')} and none of that name comes with tws; ${todo}`;
      return [{ file: file.shown, ...asWritten({ path, message: problem ?? absent }, doc) }];
    }),
  );
}

type Wanted = { readonly wanted: string; readonly path: string };

/** The plugin of a task, or those of the deciders of a flow or job. */
function pluginsIn(doc: Written): readonly Wanted[] {
  const { type, name, plugin, flow } = doc;
  if (type === 'task') {
    if (typeof name !== 'string' || flow !== undefined) return [];
    const wanted = pluginOf(typeof plugin === 'string' ? { name, plugin } : { name });
    return [{ wanted, path: 'plugin' }];
  }
  const parsed = parseDocument({ ...doc, _id: 'new', _rev: '0-0' });
  if ((parsed.kind !== 'flow' && parsed.kind !== 'job') || !parsed.ok) return [];
  const { tasks, ...ends } = parsed.value as { readonly tasks?: Structure } & Pick<
    Flow,
    'error' | 'cancel'
  >;
  const places = [
    ...(tasks === undefined ? [] : placesIn(tasks, 'tasks')),
    ...(parsed.kind === 'flow' ? branchPlaces(ends) : []),
  ];
  return places.flatMap(({ leaf, at }) => {
    const { decider } = leaf.entry;
    return decider === undefined ? [] : [{ wanted: decider, path: `${at}.decider` }];
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
