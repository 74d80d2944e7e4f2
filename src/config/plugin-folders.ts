import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { problem } from '../errors.js';
import { settings } from './table.js';

/** Folder of a package that holds its plugins, unless `tws.plugins` of its package.json names another one. */
const usualFolder = 'plugins';

/**
 * The absolute folders that `plugins` of the settings names: folders relative to the project, and npm
 * packages by their name, as `require` finds them from there.
 * @throws TwsError `plugins_missing` for a package that is not installed, `setting_invalid` for one that
 * holds no plugins
 */
export function pluginFolders(
  root: string,
  entries: readonly string[],
  origin: string,
): readonly string[] {
  return entries.map((entry) => {
    const folder = resolve(root, entry);
    if (!isPackageName(entry) || existsSync(folder)) return folder;
    const at = packageFolder(root, entry);
    if (at !== undefined) return foldersOfPackage(at, entry, origin);
    // The usual folder may be made later.
    if (entry === settings.plugins.usual) return folder;
    throw problem('plugins_missing', { entry, origin });
  });
}

function isPackageName(entry: string): boolean {
  return (
    !isAbsolute(entry) && /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(entry)
  );
}

/** The folder of an installed package; its `exports` may hide its package.json from `require`. */
function packageFolder(from: string, name: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  const above = dirname(from);
  return above === from ? undefined : packageFolder(above, name);
}

function foldersOfPackage(folder: string, name: string, origin: string): string {
  const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly tws?: { readonly plugins?: unknown };
  };
  const own = facts.tws?.plugins;
  const plugins = resolve(folder, typeof own === 'string' ? own : usualFolder);
  if (existsSync(plugins)) return plugins;
  const reason = `the package "${name}" holds no plugins: there is no ${plugins}.`;
  throw problem('setting_invalid', { name: 'plugins', origin, reason });
}
