import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pluginProblem } from './failures.js';
import type { PluginError } from './errors.js';

/**
 * Loads a package that a plugin needs, when it is first needed: the one of the user's project, else
 * the one that is installed with tws. `folder` is the project's folder (`context.cwd`).
 * Throws `MissingPackage`, with the command that installs it, or `PackageBroken`.
 */
export async function loadPackage<Module>(
  name: string,
  plugin: string,
  folder: string,
): Promise<Module> {
  const found = findPackage(name, folder);
  if (found === undefined) throw missingPackage(name, plugin, folder);
  try {
    return (await found.load()) as Module;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw pluginProblem('PackageBroken', { package: name, plugin, reason }, cause);
  }
}

/** The failure of a step whose plugin lacks a package; no further attempt can help. */
export function missingPackage(name: string, plugin: string, folder: string): PluginError {
  return pluginProblem('MissingPackage', { package: name, plugin, folder });
}

/** Where a package is and how it is loaded; undefined when it is installed nowhere. */
export function findPackage(
  name: string,
  folder: string,
): { readonly load: () => Promise<unknown> } | undefined {
  const requires = [join(folder, 'package.json'), import.meta.url].map((from) =>
    createRequire(from),
  );
  for (const require of requires) {
    const how = howToLoad(name, require);
    if (how === 'require') return { load: async () => require(name) as unknown };
    // Only an importing module can reach such a package, and of those only this one is at hand.
    if (how === 'import') return { load: () => import(/* @vite-ignore */ name) };
  }
  return undefined;
}

function howToLoad(name: string, require: NodeJS.Require): 'require' | 'import' | undefined {
  try {
    require.resolve(name);
    return 'require';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' ? 'import' : undefined;
  }
}
