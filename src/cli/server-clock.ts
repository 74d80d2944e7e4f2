import { clockAhead, connectionOf, readServerClock } from '../client.js';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import { lengthOf } from '../words.js';

/**
 * Refuses to remove anything by its age by a clock that is far ahead of that of the database server (SR2).
 * @throws TwsError `clock_ahead`, `couch_unreachable`
 */
export async function assertClock(config: Config, now: () => number = Date.now): Promise<void> {
  const serverAt = await readServerClock(connectionOf(config));
  const ahead = clockAhead(now(), serverAt);
  if (ahead > 0) throw problem('clock_ahead', { ahead: lengthOf(ahead) });
}
