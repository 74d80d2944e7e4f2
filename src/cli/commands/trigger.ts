import { z } from 'zod';
import { openDatabase, type GatheredFacts } from '../../client.js';
import { problem } from '../../errors.js';
import { momentFrom } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, numberFlag } from '../command.js';
import { tableLines, type TableCell } from '../table.js';

const flags = z.object({ limit: numberFlag(1, 1_000) });

/** `tws trigger gatherings`: events that wait for a job of a trigger with `debounce` or `batch`. */
export const trigger = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', flow, ...others] = args;
  actionOf('trigger', word, ['gatherings']);
  if (others.length > 0) {
    throw problem('usage', { reason: '"tws trigger gatherings" takes the name of one flow.' });
  }
  const config = read();
  const owner = chosenOwner(config);
  const owners = owner === undefined ? undefined : [owner];
  const { client, close } = openDatabase(config);
  try {
    const found = await client.gatherings({ owners, flow, most: said.limit });
    const now = Date.now();
    const rows = found.gatherings.map((one) => cellsOf(one, now));
    for (const line of tableLines(head, rows, io)) io.out(line);
    if (rows.length === 0) io.say('No events wait for further ones.');
    if (found.more) io.say('There are others; see `--limit`.');
    io.json(found);
    return 0;
  } finally {
    await close();
  }
});

const head = ['FLOW', 'OWNER', 'EVENT', 'BY', 'KEY', 'EVENTS', 'JOB STARTS', 'DOCUMENT'];

function cellsOf(facts: GatheredFacts, now: number): readonly TableCell[] {
  const { id, flow, owner, event = '?', by, key = '-', count, size, due, starting } = facts;
  const waits = by === 'batch' ? `${count} of ${size}` : String(count);
  const when = due === undefined ? '-' : momentFrom(now, due);
  const texts = [flow, owner, event, by, key, waits, starting ?? when, id];
  return texts.map((text) => ({ text }));
}
