import { credentialVariables } from '../config/table.js';
import type { PluginContext } from '../plugin/api.js';
import { captureConsole, consoleLog } from '../plugin/console.js';
import {
  loadPlugins,
  shippedPluginFolder,
  type PluginListing,
  type PluginRegistry,
} from '../plugin/loader.js';
import { print } from './output.js';
import { isInFolder } from './paths.js';
import { plain } from './safe.js';

/**
 * What modules print while commands load them goes to stderr: stdout is for results. Engines have taken
 * the console over themselves.
 */
const printed = (): PluginContext['log'] | undefined =>
  consoleLog(
    ({ plugin }) =>
      (text) =>
        print(process.stderr, `${plugin}: ${plain(text)}\n`),
  );

/**
 * Loads the plugins of a project into this process. They share it, so the credentials leave its
 * environment first: the settings were read, and what plugins need they get as parameters.
 */
export async function loadProjectPlugins(
  folders: readonly string[],
  log?: PluginContext['log'],
  watched = false,
): Promise<PluginRegistry> {
  for (const name of credentialVariables) delete process.env[name];
  if (log !== undefined) return loadPlugins({ folders, log, watched });
  const release = captureConsole(printed);
  try {
    return await loadPlugins({ folders, log: () => undefined });
  } finally {
    release();
  }
}

/** Sorts the plugins of the project before those that come with tws. */
export function ownFirst(plugins: readonly PluginListing[]): readonly PluginListing[] {
  const isOwn = ({ file }: PluginListing): boolean => !isInFolder(shippedPluginFolder(), file);
  return [...plugins.filter(isOwn), ...plugins.filter((plugin) => !isOwn(plugin))];
}
