import { z } from 'zod';
import { open, type Client } from '../../client.js';
import type { StoredDocument } from '../../model/parse.js';
import type { RequestAction } from '../../model/request.js';
import { command, type Command } from '../command.js';
import { jobLine } from '../jobs.js';

/** `tws cancel`: asks for the end of a job. */
export const cancel = requestOf('cancel');
/** `tws pause`: lets no new step begin. */
export const pause = requestOf('pause');
/** `tws resume`: lets a paused job go on. */
export const resume = requestOf('resume');

function requestOf(action: RequestAction): Command {
  const flags = z.object({ reason: z.string().optional(), by: z.string().optional() });
  return command(flags, async ({ args, flags: { reason, by }, config: read }, io) => {
    const id = args[0] ?? '';
    const { client, close } = open(read());
    try {
      const options = {
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      };
      const requested = await client.request(id, action, options);
      if (requested.kind === 'applied') {
        io.out(`applied: ${action} ${id}`);
        io.out(jobLine((await withEffect(client, id, action)) ?? requested.job, io));
      } else {
        io.out(
          `stored: the request to ${action} ${id}; no engine has taken it yet, one will when it runs.`,
        );
      }
      io.json(requested);
      return 0;
    } finally {
      await close();
    }
  });
}

/** How long the effect of a request is waited for, in ms; a running step may take longer. */
const effectMs = 2_000;

/** The job when the request shows, or as it is when that takes too long. */
async function withEffect(
  client: Client,
  id: string,
  action: RequestAction,
): Promise<StoredDocument | undefined> {
  const enough = new AbortController();
  let last: StoredDocument | undefined;
  const onChange = (job: StoredDocument): void => {
    last = job;
    if (shows(action, job)) enough.abort();
  };
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(effectMs)]);
  await client.watch(id, { signal, onChange });
  return last;
}

function shows(action: RequestAction, { state }: StoredDocument): boolean {
  switch (action) {
    case 'pause':
      return state === '$$paused';
    case 'resume':
      return state !== '$$paused';
    case 'cancel':
      return state === '$$cancelled' || state === '$$complete';
    case 'retry':
    case 'skip':
    case 'note':
      return true;
  }
}
