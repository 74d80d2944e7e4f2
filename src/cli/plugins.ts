import { credentialVariables } from '../config/table.js';
import type { PluginContext } from '../plugin/api.js';
import { loadPlugins, type PluginRegistry } from '../plugin/loader.js';

/**
 * Loads the plugins of a project into this process. They share it, so the credentials leave its
 * environment first: the settings were read, and what plugins need they get as parameters.
 */
export function loadProjectPlugins(
  folders: readonly string[],
  log: PluginContext['log'] = () => undefined,
): Promise<PluginRegistry> {
  for (const name of credentialVariables) delete process.env[name];
  return loadPlugins({ folders, log });
}
