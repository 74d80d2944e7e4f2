import { isEndedJob } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import type { Principal } from '../access/principal.js';
import { waitUntilReady } from '../feed/wait.js';
import type { RawCall } from '../route.js';
import { answeredTo, jobFor, knownStill } from '../routes/common.js';
import { byOf } from '../routes/requests.js';
import { offerOptions } from './offers.js';

/** So long a request waits for an engine to do what was asked, ms. */
export const patienceMs = 10_000;

type Asked = Pick<RawCall, 'api' | 'headers' | 'signal'> & { readonly who: Principal };

/**
 * Asks for the end of a job; answers it as it stands then. Where that takes no engine it has ended.
 * @throws TwsError `request_refused`, `job_ended`
 */
export async function cancelledJob(
  { api, headers, signal, who }: Asked,
  { _id: id, ...before }: StoredDocument,
): Promise<StoredDocument> {
  const done = await api.client.cancelWork(id, { ...byOf({}, who), ...offerOptions(api) });
  if (done !== undefined) return done;
  const asked = { ...byOf({}, who), waitMs: patienceMs, signal };
  const requested = await answeredTo({ api, headers, level: 'operator' }, () =>
    api.client.request(id, 'cancel', asked),
  );
  if (requested.kind === 'stored') return { _id: id, ...before };
  const read = () => jobFor(api, who, id);
  return waitUntilReady({
    ...{ hub: api.hub, id, read, isReady: isEndedJob, waitMs: patienceMs, signal },
    readAgain: async () => {
      await knownStill(api, headers, 'operator');
      return read();
    },
  });
}
