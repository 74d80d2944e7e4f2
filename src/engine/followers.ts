import type { FollowParts } from './loop/followed-parts.js';
import type { Followed } from './loop/followed.js';
import { createSchedules, type Schedules } from './schedules/schedules.js';
import { createEventTriggers } from './triggers/event-triggers.js';

/** The parts of an engine that follow documents which start jobs. */
export type Followers = {
  readonly schedules: Schedules;
  /** Follows announced events. */
  readonly eventTriggers: Followed;
};

export function createFollowers(parts: FollowParts): Followers {
  return { schedules: createSchedules(parts), eventTriggers: createEventTriggers(parts) };
}
