import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createPulse, isAway, openDatabase } from '../../client.js';
import { defineCommand, secondsFlag, switchFlag } from '../command.js';
import { enterFullScreen, type FullScreen } from '../full-screen.js';
import type { Io } from '../io.js';
import { leastRoom, overviewLines, wholeOverview } from '../overview-lines.js';
import { lookAround, type Overview } from '../overview.js';
import { onKeys, type Terminal } from '../terminal.js';

const flags = z.object({ once: switchFlag, interval: secondsFlag });

/** `tws top`: how things stand in the database, again and again; `q` leaves it. */
export const top = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const config = read();
  const { client, close } = openDatabase(config);
  const terminal = io.terminal('stdout');
  const pulse = createPulse(config.leaseMs);
  const look = (): Promise<Overview> => lookAround(client, pulse);
  const everyMs = (said.interval ?? 2) * 1_000;
  try {
    if (said.once || (terminal === undefined && io.mode !== 'json')) {
      const overview = await look();
      for (const line of wholeOverview(overview, io)) io.out(line);
      io.json(overview);
      return 0;
    }
    if (terminal === undefined) return await tellAgain(look, everyMs, io);
    return await drawAgain(terminal, { look, everyMs, database: config.database }, io);
  } finally {
    await close();
  }
});

/** A line of JSON for each look. */
async function tellAgain(look: () => Promise<Overview>, everyMs: number, io: Io): Promise<number> {
  while (!io.stop.aborted) {
    try {
      io.jsonLine(await look());
    } catch (error) {
      if (!isAway(error)) throw error;
      io.warn(error.message);
    }
    await sleep(everyMs, undefined, { signal: io.stop }).catch(() => undefined);
  }
  return 130;
}

type Drawing = {
  readonly look: () => Promise<Overview>;
  readonly everyMs: number;
  readonly database: string;
};

async function drawAgain(
  terminal: Terminal,
  { look, everyMs, database }: Drawing,
  io: Io,
): Promise<number> {
  const left = new AbortController();
  let exit = 130;
  const screen = enterFullScreen(terminal);
  const offKeys = onKeys((key) => {
    if (key === 'q' || key === 'Q') exit = 0;
    // The terminal hands Ctrl-C over as a key.
    if (['q', 'Q', '\u0003'].includes(key)) left.abort();
  });
  const signal = AbortSignal.any([io.stop, left.signal]);
  let last: Overview | undefined;
  let trouble = '';
  const draw = (): void => drawOnce(screen, terminal, { last, trouble, database }, io);
  const offResize = terminal.onResize(draw);
  try {
    while (!signal.aborted) {
      try {
        last = await look();
        trouble = '';
      } catch (error) {
        if (!isAway(error)) throw error;
        trouble = error.message;
      }
      if (!signal.aborted) draw();
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
    return io.stop.aborted ? 130 : exit;
  } finally {
    offResize();
    offKeys();
    screen.leave();
  }
}

type Shown = {
  readonly last: Overview | undefined;
  readonly trouble: string;
  readonly database: string;
};

function drawOnce(
  screen: FullScreen,
  terminal: Terminal,
  { last, trouble, database }: Shown,
  io: Io,
): void {
  const { columns, rows } = terminal.size();
  const { columns: least, rows: fewest } = leastRoom;
  if (columns < least || rows < fewest) {
    const needs = `needs ${least}×${fewest}`;
    screen.draw([`Too small: ${columns}×${rows};`, `tws top ${needs}.`, 'q leaves it.']);
    return;
  }
  const time = last === undefined ? '' : new Date(last.at).toISOString().slice(11, 19);
  const head = `${io.style('bold', `tws top  ${database}`)}  ${io.style('dim', `${time} UTC  q leaves`)}`;
  const bad = trouble === '' ? [] : [io.style('red', `${trouble} Trying again.`)];
  const room = { columns, rows: rows - 1 - bad.length };
  const body = last === undefined ? [] : overviewLines(last, room, io);
  screen.draw([head, ...bad, ...body]);
}
