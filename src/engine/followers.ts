import type { FollowParts } from './loop/followed-parts.js';
import type { Followed } from './loop/followed.js';
import { createSchedules, type Schedules } from './schedules/schedules.js';
import { createEventTriggers } from './triggers/event-triggers.js';
import { createGatherings, type Gatherings } from './triggers/gatherings.js';

/** The parts of an engine that follow documents which start jobs. */
export type Followers = {
  readonly schedules: Schedules;
  /** Follows announced events. */
  readonly eventTriggers: Followed;
  /** Follows events that are gathered until a job starts. */
  readonly gatherings: Gatherings;
};

export function createFollowers(parts: FollowParts): Followers {
  const gatherings = createGatherings(parts);
  const eventTriggers = createEventTriggers(parts, gatherings.join);
  return { schedules: createSchedules(parts), eventTriggers, gatherings };
}
