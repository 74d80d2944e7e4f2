import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits } from '../../model/step.js';
import { keyOf } from '../../model/task.js';
import { expiryOf, hardDeadline, untilOf } from '../../reading/clock.js';
import { finish } from '../finish/finish.js';
import { acquire } from '../queries.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';

/**
 * A job of a flow with `max_running` takes one of its permits before anything of it begins, keeps it
 * whatever it waits for, and gives it back when it ends. As for all locks, the first write of a
 * document decides who has it, so there are never more than that. A slice of a map belongs to its job.
 */
export function permitMove(job: LiveJob, now: number, world: World): Move | undefined {
  const { max_running: most, name, owner } = job.flow_definition;
  if (job.locked?.permit !== undefined || job.slice !== undefined) return undefined;
  const key = keyOf(name, owner);
  const answer = world.permit(key);
  const waitFor = (because: string): Move => ({
    ...{ kind: 'wait', because, for: 'permit', permit: key },
    ...untilOf(hardDeadline(job), expiryOf(job)),
  });
  switch (answer.kind) {
    case 'unknown':
      return acquire({ permits: [{ key, most: Number(most) }] });
    case 'held':
      return { kind: 'change', job: withPermit(job, answer.id, now) };
    case 'full':
      return waitFor(
        `As many jobs of flow ${name} run as may at the same time (${most}): ${answer.by.join(', ')}.`,
      );
    case 'behind':
      return waitFor(`Other jobs of flow ${name} get a permit first: ${answer.by.join(', ')}.`);
    case 'refused': {
      const why = failure('StoreRefused', { reason: answer.reason });
      return {
        kind: 'change',
        job: finish(job, { exit: exits.definition, failure: why }, now),
      };
    }
  }
}

/** Nothing of this run has begun yet: the time for which it waited for the permit does not count. */
function withPermit(job: LiveJob, permit: string, now: number): LiveJob {
  const held = { ...job, locked: { ...job.locked, permit } };
  const waited = now - (job.timed_from ?? job.start);
  return waited > (job.held_ms ?? 0) ? { ...held, held_ms: waited } : held;
}
