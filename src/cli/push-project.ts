import type { Client } from '../client.js';
import type { Config } from '../config/load.js';
import { checkFiles } from './check-files.js';
import type { FileProblem } from '../validate/written.js';
import type { Io } from './io.js';
import { problemLine, showWarnings } from './problems.js';
import { filesToPush } from './push-files.js';
import { openSynced } from './pull/synced.js';
import { notePushed } from './push-notes.js';
import { planPush } from './push-plan.js';
import { runPush, type Pushed } from './push-run.js';

export type FolderPush = {
  readonly paths: readonly string[];
  readonly config: Config;
  readonly client: Client;
};

const none = {
  ...{ map: false, tasks: false, flows: false, schedules: false, hooks: false, jobs: false },
  ...{ design: false, samples: false },
};

/** Pushes tasks, flows, schedules and hooks of folders; with a problem in a file it is told and nothing is written. */
export async function pushFolders(
  { paths, config, client }: FolderPush,
  io: Io,
): Promise<{ readonly pushed: readonly Pushed[]; readonly problems: readonly FileProblem[] }> {
  const found = await filesToPush({ ...none, paths }, { cwd: io.cwd, root: config.root });
  const checked = await checkFiles(found.files, { client, plugins: config.plugins });
  const book = await openSynced(config, client);
  const plan = await planPush(
    client,
    checked.good.filter(({ doc }) => doc['type'] !== 'job'),
    { ...config, synced: book.agreed },
  );
  const problems = [...checked.problems, ...plan.problems, ...plan.conflicts];
  if (problems.length > 0) {
    for (const found of problems) io.warn(problemLine(found));
    showWarnings(checked.warnings, io);
    io.warn('Because of these problems nothing was pushed.');
    return { pushed: [], problems };
  }
  showWarnings(checked.warnings, io);
  const notes = notePushed(config, book, io);
  const pushed = await runPush(plan.steps, client, io, notes.done).finally(notes.end);
  return { pushed, problems: [] };
}
