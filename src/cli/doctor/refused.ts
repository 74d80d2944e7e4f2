import type { Client } from '../../client.js';
import { TwsError } from '../../errors.js';
import { counted } from '../../words.js';
import type { DoctorFinding } from './finding.js';

/** At most this many are counted. */
const mostCounted = 1_000;
/** At most this many are named. */
const mostNamed = 5;

/** Requests and signals that no job could take: they stay in the database, with the reason. */
export async function checkRefused(
  client: Pick<Client, 'refused'>,
): Promise<readonly DoctorFinding[]> {
  const found = await refusedIn(client);
  if (found.length === 0) return [];
  const count = `${counted(found.length, 'request or signal', 'requests and signals')}${found.length === mostCounted ? ' or more' : ''}`;
  const named = found.slice(0, mostNamed).map(({ id, why }) => `${id} (${why})`);
  const more = found.length > mostNamed ? '; …' : '';
  return [
    {
      what: 'refused',
      verdict: 'warn',
      says: `${count} could not be applied, and no job tells of it: ${named.join('; ')}${more}`,
      todo: 'Remove them with `tws remove ID`, and send again what is still wanted.',
    },
  ];
}

async function refusedIn(client: Pick<Client, 'refused'>) {
  try {
    return await client.refused(mostCounted);
  } catch (error) {
    // The design document is old, which is told by itself.
    if (error instanceof TwsError && error.code === 'view_missing') return [];
    throw error;
  }
}
