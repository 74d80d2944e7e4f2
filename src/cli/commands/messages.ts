import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { problemOfAnswer, warningsOfSignal } from '../../client-rules.js';
import { problem } from '../../errors.js';
import { defineCommand, secondsFlag, switchFlag } from '../command.js';
import type { SignalStart } from '../../model/signal.js';
import { isObject } from '../../model/object.js';
import { nameSchema } from '../../model/scalars.js';
import { spanSchema } from '../../model/span.js';
import type { Io } from '../io.js';
import { dataFlag, jsonFlag } from '../json-flag.js';
import { showWarnings } from '../problems.js';

const data = dataFlag.optional();

/** `tws signal`: sends a signal to a job. */
export const signal = defineCommand(
  z.object({
    data,
    by: z.string().optional(),
    id: z.string().optional(),
    start: nameSchema.optional(),
    owner: nameSchema.optional(),
    params: jsonFlag.optional(),
    wait: switchFlag,
    timeout: secondsFlag,
  }),
  async ({ args, flags, config: read }, io) => {
    const [job = '', name = ''] = args;
    if (!flags.wait && flags.timeout !== undefined)
      throw problem('usage', { reason: '--timeout is for --wait.' });
    const start = startOf(flags);
    const { client, close } = openDatabase(read());
    try {
      const { by, id } = flags;
      const sent = await client.signal({
        job,
        name,
        ...(flags.data === undefined ? {} : { data: flags.data }),
        ...(by === undefined ? {} : { by }),
        ...(id === undefined ? {} : { id }),
        ...(start === undefined ? {} : { start }),
      });
      const doc = await client.get(job);
      const there = doc !== undefined;
      const warnings = warningsOfSignal(doc, name);
      const absent = start === undefined ? ', which is not there yet' : ', which it starts';
      io.out(`sent: signal "${name}" to ${job}${there ? '' : absent} (${sent})`);
      showWarnings(
        warnings.map((one) => ({ file: job, ...one })),
        io,
      );
      const said = { id: sent, job, name, ...(warnings.length === 0 ? {} : { warnings }) };
      if (flags.wait) return await answerTo(client, said, flags.timeout, io);
      io.json(said);
      return 0;
    } finally {
      await close();
    }
  },
);

/** Waits for the answer and prints it. @throws TwsError `answer_late`, `signal_refused`, … */
async function answerTo(
  client: Client,
  said: { readonly id: string; readonly job: string },
  seconds: number | undefined,
  io: Io,
): Promise<number> {
  const { job } = said;
  const waitMs = seconds === undefined ? longestMs : seconds * 1_000;
  const answer = await client.answer(said, { waitMs, signal: io.stop });
  const refusal = problemOfAnswer(answer, job);
  if (refusal !== undefined) throw refusal;
  if (answer.kind !== 'answered') throw problem('answer_late', { job });
  io.block(JSON.stringify(answer.answer, null, 2));
  io.json({ ...said, answer: answer.answer });
  return 0;
}

/** Half of what a timer can wait. */
const longestMs = 1_000_000_000;

type StartFlags = {
  readonly start?: string | undefined;
  readonly owner?: string | undefined;
  readonly params?: unknown;
};

/** The job that a signal starts. @throws TwsError `usage` */
function startOf({ start: flow, owner, params }: StartFlags): SignalStart | undefined {
  if (flow !== undefined) {
    const own = owner === undefined ? {} : { owner };
    return { flow, ...own, ...(isObject(params) && { params }) };
  }
  if (owner === undefined && params === undefined) return undefined;
  throw problem('usage', {
    reason: 'Without --start, a signal takes neither --owner nor --params.',
  });
}

/** A number is milliseconds. */
const ttlFlag = z
  .string()
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : text))
  .pipe(spanSchema);

/** `tws event`: announces an event to every job that waits for it. */
export const event = defineCommand(
  z.object({ data, ttl: ttlFlag.optional(), id: nameSchema.optional() }),
  async ({ args, flags, config: read }, io) => {
    const [type = '', key = ''] = args;
    if (type === '') throw problem('usage', { reason: 'The name of an event must not be empty.' });
    const { client, close } = openDatabase(read());
    try {
      const { ttl, id: own } = flags;
      const more = {
        ...(flags.data === undefined ? {} : { data: flags.data }),
        ...(ttl === undefined ? {} : { ttl }),
        ...(own === undefined ? {} : { id: own }),
      };
      const id = await client.announce({ event: type, key, ...more });
      io.out(`announced: event "${type}"${key === '' ? '' : ` of "${key}"`} (${id})`);
      io.json({ id, event: type, key });
      return 0;
    } finally {
      await close();
    }
  },
);
