import type { Assembly } from '../assembly.js';
import { createReloads } from '../loop/feed.js';
import { scanDatabase } from '../loop/scan.js';
import type { OfferedPlugins } from '../peers/presence.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import { shortened } from '../../words.js';

/**
 * Keeps the plugins that this engine offers as they are after each reload, until the engine ends.
 * Resolves when everything that a reload began has ended.
 */
export async function followPlugins(engine: Assembly): Promise<void> {
  const { options, ending, log } = engine;
  const scans = createReloads(() =>
    scanDatabase(engine).catch((error: unknown) => {
      // The next sweep makes up for it.
      log.debug({ error: String(error) }, 'The scan after a reload of plugins failed.');
    }),
  );
  const unsubscribe = options.plugins.onReload(() => {
    offerPlugins(engine);
    scans.want();
  });
  if (!ending.signal.aborted) {
    await new Promise<void>((resolve) => {
      ending.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  unsubscribe();
  await scans.ended();
}

/** Tells the other engines which plugins this one has now; jobs that no engine could run are scanned for. */
function offerPlugins({ self, options, serializer, presence, id }: Assembly): void {
  const offered = offeredOf(options.plugins);
  self.plugins.clear();
  for (const name of offered.plugins) self.plugins.add(name);
  void serializer.queue(id, () => presence.offer(offered));
}

/** Bounds of what a document of an engine says of broken plugins. */
const mostBroken = 50;
const longestReason = 500;

/** What an engine says of its plugins: which it can run, and why it cannot load others. */
export function offeredOf({ names, list }: Pick<PluginRegistry, 'names' | 'list'>): OfferedPlugins {
  const broken = list().flatMap(({ name, problem }): [string, string][] =>
    problem === undefined ? [] : [[name, shortened(problem, longestReason)]],
  );
  const plugins = [...names()];
  if (broken.length === 0) return { plugins };
  return { plugins, broken: Object.fromEntries(broken.slice(0, mostBroken)) };
}
