import type { Assembly } from '../assembly.js';
import { scanDatabase } from '../loop/scan.js';

/**
 * Takes up what the plugins of the process are after a reload: the others read which it has, and jobs
 * that no engine could run are looked at again.
 */
export function offerPlugins(engine: Assembly): void {
  const { self, options, serializer, presence, id, ending, log } = engine;
  const names = options.plugins.names();
  self.plugins.clear();
  for (const name of names) self.plugins.add(name);
  void serializer.queue(id, () => presence.offer(names));
  if (ending.signal.aborted) return;
  scanDatabase(engine).catch((error: unknown) => {
    // The next sweep makes up for it.
    log.debug({ error: String(error) }, 'The scan after a reload of plugins failed.');
  });
}
