import { z } from 'zod';
import { open, type Client, type RequestDetails } from '../../client.js';
import { TwsError } from '../../errors.js';
import { command, numberFlag, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { jobFacts, jobLine } from '../jobs.js';
import { jsonFlag } from '../json-flag.js';

const who = { by: z.string().optional(), reason: z.string().optional() };

/** `tws retry`: lets ended jobs go on, one by id or many by flow and failure. */
export const retry = command(
  z.object({
    ...who,
    from: z.string().optional(),
    params: jsonFlag.optional(),
    latest: switchFlag,
    failed: switchFlag,
    flow: z.string().optional(),
    failure: z.string().optional(),
    limit: numberFlag(1),
  }),
  async ({ args, flags, config: read }, io) => {
    const { client, close } = open(read());
    try {
      const { failed, flow, failure, limit = 100, latest, params, ...rest } = flags;
      const chosen = failed
        ? (await client.jobs('failed', limit, { flow, failure })).jobs.map(({ _id }) => _id)
        : args.filter((id) => id !== '');
      if (chosen.length === 0) {
        io.out(failed ? 'No failed job is like that.' : 'Name a job, or choose some by --failed.');
        io.json([]);
        return failed ? 0 : 2;
      }
      const details = defined({
        ...rest,
        ...(latest ? { latest } : {}),
        params: params as RequestDetails['params'],
      });
      return await each(client, chosen, io, async (id) => client.request(id, 'retry', details));
    } finally {
      await close();
    }
  },
);

/** `tws skip`: leaves a step of a job out. */
export const skip = command(z.object(who), async ({ args, flags, config: read }, io) => {
  const [job = '', step = ''] = args;
  const { client, close } = open(read());
  try {
    return await each(client, [job], io, async (id) =>
      client.request(id, 'skip', { step, ...defined(flags) }),
    );
  } finally {
    await close();
  }
});

/** `tws note`: keeps a remark in a job. */
export const note = command(
  z.object({ by: z.string().optional() }),
  async ({ args, flags, config: read }, io) => {
    const [job = '', ...words] = args;
    const { client, close } = open(read());
    try {
      return await each(client, [job], io, async (id) =>
        client.request(id, 'note', { text: words.join(' '), ...defined(flags) }),
      );
    } finally {
      await close();
    }
  },
);

/** Asks for each job; one that refuses does not keep the others from it. Exit 1 when any refused. */
async function each(
  client: Client,
  ids: readonly string[],
  io: Io,
  ask: (id: string) => ReturnType<Client['request']>,
): Promise<number> {
  const told: unknown[] = [];
  let refusals = 0;
  for (const id of ids) {
    try {
      const requested = await ask(id);
      if (requested.kind === 'applied') io.out(jobLine(requested.job, io));
      else io.out(`stored: ${id}; no engine has taken the request yet, one will when it runs.`);
      told.push(
        requested.kind === 'applied'
          ? { kind: 'applied', ...jobFacts(requested.job, Date.now()) }
          : { id, ...requested },
      );
    } catch (error) {
      if (!(error instanceof TwsError) || ids.length === 1) throw error;
      refusals += 1;
      io.warn(error.message);
      told.push({ id, kind: 'refused', because: error.message });
    }
  }
  io.json(ids.length === 1 ? told[0] : told);
  return refusals > 0 ? 1 : 0;
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(given: T): Defined<T> {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as Defined<T>;
}
