import { z } from 'zod';
import { openDatabase, type HistoryEvent } from '../../client.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { plain } from '../safe.js';

/** `tws history`: what has happened in a job, as ordered events. */
export const history = defineCommand(z.object({}), async ({ args, config: read }, io) => {
  const { client, close } = openDatabase(read());
  try {
    const events = await client.history(args[0] ?? '');
    const began = events[0]?.at ?? 0;
    const width = Math.max(0, ...events.map(({ kind }) => kind.length));
    for (const event of events) io.out(line(event, began, width, io));
    if (events.length === 0) io.out('Nothing has happened in it yet.');
    io.json(events);
    return 0;
  } finally {
    await close();
  }
});

function line(event: HistoryEvent, began: number, width: number, io: Io): string {
  const { id, at, level, kind, path, name, attempt } = event;
  const time = `+${((at - began) / 1000).toFixed(3)}s`.padStart(11);
  const step = path === undefined ? '' : ` ${path}${(attempt ?? 1) > 1 ? `#${attempt}` : ''}`;
  const called = name === undefined ? '' : ` ${io.style('bold', name)}`;
  const more = shortData(event);
  return `${String(id).padStart(4)} ${time} ${level.padEnd(8)} ${kind.padEnd(width)}${step}${called}${io.style('dim', more)}`;
}

const longest = 100;

function shortData({ data, engine }: HistoryEvent): string {
  const failure = (data as { failure?: { name?: string; message?: string } } | undefined)?.failure;
  if (failure !== undefined) return plain(` ${failure.name}: ${failure.message}`);
  const text = data === undefined ? '' : ` ${JSON.stringify(data)}`;
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return `${engine === undefined ? '' : ` on ${engine}`}${shown === ' {}' ? '' : shown}`;
}
