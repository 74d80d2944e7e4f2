import { z } from 'zod';
import { openDatabase, type CachedRow } from '../../client.js';
import { problem } from '../../errors.js';
import { counted, momentFrom } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import { tableLines } from '../table.js';

/** `tws cache`: the results that are kept for tasks with `cache`; with clear they are removed. */
export const cache = defineCommand(z.object({}), async ({ args, config: read }, io) => {
  const [word = '', task, ...others] = args;
  const action = actionOf('cache', word, ['list', 'clear']);
  if (others.length > 0)
    throw problem('usage', { reason: `"tws cache ${action}" takes one task at most.` });
  const config = read();
  const choice = { task, owner: chosenOwner(config) };
  const { client, close } = openDatabase(config);
  try {
    if (action === 'clear') {
      const removed = await client.clearCached(choice);
      io.out(`removed: ${counted(removed, 'cached result')}`);
      io.json({ removed });
      return 0;
    }
    const rows: CachedRow[] = [];
    for await (const row of client.cachedResults(choice)) rows.push(row);
    const now = Date.now();
    const cells = rows.map(({ owner, task: of, job, path, until }) => [
      { text: `${of}::${owner}` },
      { text: job },
      { text: path },
      { text: until <= now ? 'expired' : momentFrom(now, until) },
    ]);
    if (rows.length === 0) io.say('No results are kept.');
    else
      for (const line of tableLines(['TASK', 'FROM JOB', 'STEP', 'ENDS'], cells, io)) io.out(line);
    io.json(rows);
    return 0;
  } finally {
    await close();
  }
});
