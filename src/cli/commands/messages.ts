import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { warningsOfSignal } from '../../client-rules.js';
import { problem } from '../../errors.js';
import { defineCommand } from '../command.js';
import { dataFlag } from '../json-flag.js';
import { showWarnings } from '../problems.js';

const data = dataFlag.optional();

/** `tws signal`: sends a signal to a job. */
export const signal = defineCommand(
  z.object({ data, by: z.string().optional(), id: z.string().optional() }),
  async ({ args, flags, config: read }, io) => {
    const [job = '', name = ''] = args;
    const { client, close } = openDatabase(read());
    try {
      const { by, id } = flags;
      const sent = await client.signal({
        job,
        name,
        ...(flags.data === undefined ? {} : { data: flags.data }),
        ...(by === undefined ? {} : { by }),
        ...(id === undefined ? {} : { id }),
      });
      const doc = await client.get(job);
      const there = doc !== undefined;
      const warnings = warningsOfSignal(doc, name);
      io.out(
        `sent: signal "${name}" to ${job}${there ? '' : ', which is not there yet'} (${sent})`,
      );
      showWarnings(
        warnings.map((one) => ({ file: job, ...one })),
        io,
      );
      io.json({ id: sent, job, name, ...(warnings.length === 0 ? {} : { warnings }) });
      return 0;
    } finally {
      await close();
    }
  },
);

/** `tws event`: announces an event to every job that waits for it. */
export const event = defineCommand(
  z.object({ data }),
  async ({ args, flags, config: read }, io) => {
    const [type = '', key = ''] = args;
    if (type === '') throw problem('usage', { reason: 'The name of an event must not be empty.' });
    const { client, close } = openDatabase(read());
    try {
      const more = flags.data === undefined ? {} : { data: flags.data };
      const id = await client.announce({ event: type, key, ...more });
      io.out(`announced: event "${type}"${key === '' ? '' : ` of "${key}"`} (${id})`);
      io.json({ id, event: type, key });
      return 0;
    } finally {
      await close();
    }
  },
);
