import type { Command } from '../../src/cli/command.js';
import { admin, couchUrl } from '../support/couch.js';
import { openWorkspace, type Workspace } from '../support/workspace.js';
import { project, run, type Ran, type RunOptions } from './terminal.js';

/** A project in a folder of its own, with a database that is ready. */
export type Project = Workspace & {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command in the project. */
  readonly tws: (command: Command, options?: Partial<RunOptions>) => Promise<Ran>;
};

/** The environment that leads to a database of the test server. */
export function environment(database: string): Readonly<Record<string, string>> {
  const { user, password } = admin();
  const { origin } = new URL(couchUrl());
  return { COUCH_URL: origin, COUCH_USER: user, COUCH_PASS: password, COUCH_DATABASE: database };
}

/** Makes a project of these files. */
export async function openProject(
  files: Readonly<Record<string, unknown>> = {},
  plugins: Readonly<Record<string, string>> = {},
): Promise<Project> {
  const workspace = await openWorkspace(plugins);
  const root = await project(files);
  const env = environment(workspace.store.connection.database);
  return {
    ...workspace,
    root,
    env,
    tws: (command, options = {}) => run(command, { cwd: root, env, ...options }),
  };
}
