import { join } from 'node:path';

import { problem } from '../../errors.js';
import { openOrderedMap } from './level.js';

/**
 * Takes the directory of a server, so that no other process works in it; returns what gives it back.
 * @throws TwsError `embedded_dir_in_use`
 */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const lock = await openOrderedMap(join(dir, 'lock')).catch((cause: unknown) => {
    throw problem('embedded_dir_in_use', { dir }, { cause });
  });
  return () => lock.close();
}
