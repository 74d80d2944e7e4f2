import { z } from 'zod';
import { open } from '../../client.js';
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
      if (requested.kind === 'applied') io.out(jobLine(requested.job, io));
      else {
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
