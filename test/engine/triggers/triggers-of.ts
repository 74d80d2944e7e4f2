import type { FollowParts } from '../../../src/engine/loop/followed-parts.js';
import type { Followed } from '../../../src/engine/loop/followed.js';
import { createEventTriggers } from '../../../src/engine/triggers/event-triggers.js';
import { createGatherings, type Gatherings } from '../../../src/engine/triggers/gatherings.js';

/** What an engine does about announced events and those that are gathered, as one part. */
export function triggersOf(parts: FollowParts): Followed & Pick<Gatherings, 'regather'> {
  const gatherings = createGatherings(parts);
  const events = createEventTriggers(parts, gatherings.join);
  return {
    ...gatherings,
    take: (doc, how) => (doc['type'] === 'event' ? events : gatherings).take(doc, how),
    stop: () => {
      events.stop();
      gatherings.stop();
    },
  };
}
