import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { itemAround } from '../../structures/paths.js';
import { listed, textOf } from '../../words.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { createNewLines, jobLog, type IsMeant, type JobLogLine } from '../job-log.js';
import { clock } from '../log.js';
import { jobIdOf } from '../naming.js';
import { plain } from '../safe.js';

const flags = z.object({ step: z.string().optional(), follow: switchFlag });

/** `tws logs`: what the plugins of a job have logged, by time; with `--follow` until the job ends. */
export const logs = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const { client, close } = openDatabase(read());
  try {
    const id = await jobIdOf(args[0] ?? '', client, io);
    const { step } = said;
    const isMeant: IsMeant = ({ name, path }) =>
      step === undefined || step === name || step === path;
    if (said.follow) return await follow(client, id, isMeant, io);
    const job = await jobCalled(client, id);
    const lines = jobLog(job, isMeant);
    for (const line of lines) io.out(shown(line, io));
    if (lines.length === 0) io.say(nothingLogged(job, step));
    io.json(lines.map(forPrograms));
    return 0;
  } finally {
    await close();
  }
});

/** @throws TwsError `document_missing`, `document_kind` */
async function jobCalled(client: Client, id: string): Promise<StoredDocument> {
  const doc = await client.get(id);
  if (doc === undefined) throw problem('document_missing', { id });
  const { type } = doc;
  if (type !== 'job') throw problem('document_kind', { id, kind: textOf(type), wanted: 'job' });
  return doc;
}

/** Names the child jobs, which keep what their steps log: those of a sliced map are the steps of its items. */
function nothingLogged({ _id: id, steps }: StoredDocument, step: string | undefined): string {
  const of = step === undefined ? 'No step' : `No step "${step}"`;
  const attempts: readonly unknown[] = Array.isArray(steps) ? steps : [];
  const children = attempts.flatMap((one) =>
    isObject(one) && typeof one['child'] === 'string' ? [one['child']] : [],
  );
  const more =
    children.length === 0
      ? ''
      : ` Its child jobs have logs of their own: ${listed([...new Set(children)])}.`;
  return `${of} of job ${id} has logged anything yet.${more}`;
}

async function follow(client: Client, id: string, isMeant: IsMeant, io: Io): Promise<number> {
  const newLines = createNewLines(isMeant);
  const onChange = (job: StoredDocument): void => {
    for (const line of newLines(job)) {
      io.out(shown(line, io));
      io.jsonLine(forPrograms(line));
    }
  };
  const ended = await client.watch(id, { signal: io.stop, onChange });
  return ended === undefined && io.stop.aborted ? 130 : 0;
}

/** `12:00:01.234  hello  greeting name=Ada`; ISO 8601 where no terminal shows it. In a map: `hello (0.map.7)`. */
function shown({ at, step, path, attempt, message, data = {} }: JobLogLine, io: Io): string {
  const time = io.resultsOnTerminal ? clock(at) : new Date(at).toISOString();
  const item = itemAround(path);
  const who = `${step}${attempt > 1 ? `#${attempt}` : ''}${item === undefined ? '' : ` (${item})`}`;
  const more = Object.entries(data).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const details = more.length === 0 ? '' : io.style('dim', more.join(''));
  return `${io.style('dim', time)}  ${io.style('bold', plain(who))}  ${plain(message)}${details}`;
}

const forPrograms = ({ at, ...line }: JobLogLine) => ({ at: new Date(at).toISOString(), ...line });
