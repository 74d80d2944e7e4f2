import type { LiveJob } from '../../model/job.js';
import type { LiveStep } from '../../model/step.js';
import { keyOf, type Task } from '../../model/task.js';
import type { TaskSlots } from '../intent.js';
import type { World } from '../world.js';
import { definitionFor } from '../../reading/entries.js';

/**
 * Returns how many attempts of a task an engine may run at once; undefined: as many as it has
 * slots.
 */
export function taskSlots({ name, owner, slots }: Task): TaskSlots | undefined {
  return slots === undefined ? undefined : { task: keyOf(name, owner), slots };
}

/**
 * Returns the limit of a task that this engine runs as often as it may; undefined: it may run once
 * more.
 */
export function fullTask(task: Task, { me }: World): TaskSlots | undefined {
  const limit = taskSlots(task);
  return limit !== undefined && me.runningOf(limit.task) >= limit.slots ? limit : undefined;
}

/** Returns the world with the slots taken that claims of the same decision use. */
export function withClaims(job: LiveJob, world: World, claims: readonly LiveStep[]): World {
  if (claims.length === 0) return world;
  const { me } = world;
  const claimed = claims.map((step) => limitOf(job, step)?.task);
  return {
    ...world,
    me: {
      ...me,
      freeSlots: me.freeSlots - claims.length,
      runningOf: (task) => me.runningOf(task) + claimed.filter((one) => one === task).length,
    },
  };
}

/** Returns the limit of the task of a step. */
export function limitOf(job: LiveJob, step: LiveStep): TaskSlots | undefined {
  const definition = definitionFor(job, step);
  return definition === undefined ? undefined : taskSlots(definition);
}
