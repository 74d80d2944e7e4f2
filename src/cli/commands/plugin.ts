import { z } from 'zod';
import { problem } from '../../errors.js';
import {
  shippedPluginFolder,
  type LoadedPlugin,
  type PluginRegistry,
} from '../../plugin/loader.js';
import { defineCommand, switchFlag } from '../command.js';
import { shownPath } from '../paths.js';
import { pluginDoc, pluginMarkdown } from '../plugin-docs.js';
import { loadProjectPlugins } from '../plugins.js';

/** `tws plugin docs`: what plugins export about themselves, as Markdown. */
export const plugin = defineCommand(
  z.object({ shipped: switchFlag }),
  async ({ args, flags, config: read }, io) => {
    const [action = '', ...names] = args;
    if (action !== 'docs') {
      throw problem('usage', {
        reason: `There is no "tws plugin ${action}"; it is tws plugin docs.`,
      });
    }
    const config = read();
    const registry = await loadProjectPlugins(config.plugins);
    const plugins =
      names.length === 0
        ? chosen(registry, flags.shipped)
        : names.map((name) => called(registry, name));
    for (const { state, problem: why } of registry.list()) {
      if (state === 'broken') io.warn(why ?? '');
    }
    const docs = plugins.map(pluginDoc);
    if (docs.length === 0) io.say('The project has no plugins; --shipped shows those of tws.');
    else
      io.block(pluginMarkdown(docs, (file) => shownPath(file, { cwd: io.cwd, root: config.root })));
    io.json(docs);
    return 0;
  },
);

/** The plugins of the project, or those of tws as well. */
function chosen(registry: PluginRegistry, shipped: boolean): readonly LoadedPlugin[] {
  const folder = shippedPluginFolder();
  return registry
    .names()
    .flatMap((name) => registry.get(name) ?? [])
    .filter(({ file }) => shipped || !file.startsWith(folder));
}

/** @throws TwsError `usage` */
function called(registry: PluginRegistry, name: string): LoadedPlugin {
  const found = registry.get(name);
  if (found !== undefined) return found;
  const broken = registry.list().find((plugin) => plugin.name === name)?.problem;
  throw problem('usage', { reason: broken ?? `There is no plugin "${name}".` });
}
