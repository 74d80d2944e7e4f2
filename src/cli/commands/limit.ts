import { z } from 'zod';
import { openDatabase, type LimitFacts } from '../../client.js';
import { problem } from '../../errors.js';
import { counted, lengthOf, momentFrom } from '../../words.js';
import { actionOf } from '../action.js';
import { defineCommand, numberFlag } from '../command.js';
import { tableLines, type TableCell } from '../table.js';

const flags = z.object({ limit: numberFlag(1, 1_000) });

/** `tws limit list`: the limits that jobs hold or wait for. */
export const limit = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...others] = args;
  actionOf('limit', word, ['list']);
  if (others.length > 0) throw problem('usage', { reason: '"tws limit list" takes no names.' });
  const config = read();
  // An owner that nobody chose narrows nothing.
  const owners = config.origins['owner'] === 'default' ? undefined : [config.owner];
  const { client, close } = openDatabase(config);
  try {
    const found = await client.limits({ owners, most: said.limit });
    const { limits, more, partly } = found;
    const now = Date.now();
    const rows = limits.map((one) => cellsOf(one, now));
    for (const line of tableLines(head, rows, io)) io.out(line);
    if (limits.length === 0) io.say('No job holds a permit or waits for one.');
    if (more > 0) io.say(`And ${more} more; see \`--limit\`.`);
    if (partly) io.say('There are more jobs or documents than were looked at.');
    io.json(found);
    return 0;
  } finally {
    await close();
  }
});

const head = ['LIMIT', 'OWNER', 'KEY', 'USED', 'WAITING', 'JOBS'];

function cellsOf(facts: LimitFacts, now: number): readonly TableCell[] {
  const { title, owner = '-', key = '-', held, limit: most, per } = facts;
  const window = per === undefined ? '' : ` per ${lengthOf(per)}`;
  const isFull = most !== undefined && held >= most;
  return [
    { text: title },
    { text: owner },
    { text: key },
    {
      text: `${held} of ${most ?? '?'}${window}`,
      ...(isFull ? { style: 'yellow' as const } : {}),
    },
    { text: waitingText(facts) },
    { text: holdersText(facts, now) },
  ];
}

function waitingText({ waiting, line: [first] }: LimitFacts): string {
  if (waiting === 0) return '-';
  return first === undefined ? String(waiting) : `${waiting}, first ${first.job}`;
}

/** So many jobs are named. */
const mostNamed = 3;

function holdersText({ held, holders }: LimitFacts, now: number): string {
  const named = holders.slice(0, mostNamed).map(({ job, step, since }) => {
    const of = step === undefined ? job : `${job} step ${step}`;
    return `${of} (${momentFrom(now, since)})`;
  });
  const left = held - named.length;
  const more = named.length === 0 ? counted(left, 'other') : `${left} more`;
  return [...named, ...(left > 0 ? [more] : [])].join(', ') || '-';
}
