import type { Assembly } from '../assembly.js';
import { createReloads } from '../loop/feed.js';
import { scanDatabase } from '../loop/scan.js';
import { offeredOf } from '../peers/presence.js';

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
