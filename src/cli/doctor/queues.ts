import type { Client } from '../../client.js';
import type { DoctorFinding } from './finding.js';

/** Controls of queues that have a mistake: a queue without the limit that somebody meant it to have. */
export async function checkQueueControls(
  client: Pick<Client, 'wrongQueueControls'>,
): Promise<readonly DoctorFinding[]> {
  const wrong = await client.wrongQueueControls();
  return wrong.map(({ id, problems }) => ({
    what: `queue-control ${id}`,
    verdict: 'fail',
    says: `Engines follow only what they can read of it: ${problems.map(({ message }) => message).join(' ')}`,
    todo: 'Correct it and store it again; `tws queue list` shows what counts meanwhile.',
  }));
}
