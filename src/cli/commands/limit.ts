import { z } from 'zod';
import { openDatabase, type LimitFacts } from '../../client.js';
import { problem } from '../../errors.js';
import { counted, lengthOf, momentFrom, ordinal } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, numberFlag } from '../command.js';
import type { Io } from '../io.js';
import { plain } from '../safe.js';
import { tableLines, type TableCell } from '../table.js';

const flags = z.object({ limit: numberFlag(1, 1_000) });

/** `tws limit`: the limits that jobs hold or wait for; with show those of one name, with everybody in line. */
export const limit = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', name, ...others] = args;
  const action = actionOf('limit', word, ['list', 'show']);
  if (action === 'list' && name !== undefined)
    throw problem('usage', { reason: '"tws limit list" takes no names.' });
  if (action === 'show' && (name === undefined || others.length > 0)) {
    throw problem('usage', {
      reason: '"tws limit show" takes one name: of a limit, a flow, a task or a queue.',
    });
  }
  const config = read();
  const owner = chosenOwner(config);
  const owners = owner === undefined ? undefined : [owner];
  const { client, close } = openDatabase(config);
  try {
    const which = action === 'list' ? { most: said.limit } : { name, named: said.limit ?? 100 };
    const found = await client.limits({ owners, ...which });
    const { limits, more, partly } = found;
    if (action === 'list') printList(limits, io);
    else for (const one of limits) printOne(one, io);
    if (limits.length === 0) io.say(`No job holds a permit${nameText(name)} or waits for one.`);
    if (more > 0) io.say(`And ${more} more; see \`--limit\`.`);
    if (partly) io.say('There are more jobs or documents than were looked at.');
    io.json(found);
    return 0;
  } finally {
    await close();
  }
});

const nameText = (name: string | undefined): string => (name === undefined ? '' : ` of "${name}"`);

function printList(limits: readonly LimitFacts[], io: Io): void {
  const now = Date.now();
  const rows = limits.map((one) => cellsOf(one, now));
  for (const line of tableLines(head, rows, io)) io.out(line);
}

/** A limit, who holds it and who waits, each in a line. */
function printOne(facts: LimitFacts, io: Io): void {
  const now = Date.now();
  const { title, owner, key, held, holders, waiting, line } = facts;
  const whose = owner === undefined ? '' : ` of owner ${owner}`;
  const forKey = key === undefined ? '' : ` for ${key}`;
  io.out(plain(`${title}${forKey}${whose}: ${usedText(facts)}`));
  const begun = facts.kind === 'rate' ? 'began' : 'has a permit';
  for (const { job, step, since } of holders) {
    const at = step === undefined ? '' : ` step ${step}`;
    io.out(`  ${plain(`${job}${at} ${begun} (${momentFrom(now, since)})`)}`);
  }
  if (held > holders.length) io.out(`  ${counted(held - holders.length, 'other')} not shown`);
  for (const { job, place, to, since } of line) {
    const at = to === undefined ? ordinal(place) : `${ordinal(place)} to ${ordinal(to)}`;
    const begunAt = since === undefined ? '' : `, begun ${momentFrom(now, since)}`;
    io.out(`  ${plain(`${job} is ${at} of ${waiting} in line${begunAt}`)}`);
  }
  if (waiting > line.length)
    io.out(`  ${counted(waiting - line.length, 'other')} in line not shown`);
}

const head = ['LIMIT', 'OWNER', 'KEY', 'USED', 'WAITING', 'JOBS'];

function cellsOf(facts: LimitFacts, now: number): readonly TableCell[] {
  const { title, owner = '-', key = '-', held, limit: most } = facts;
  const isFull = most !== undefined && held >= most;
  return [
    { text: title },
    { text: owner },
    { text: key },
    {
      text: usedText(facts),
      ...(isFull ? { style: 'yellow' as const } : {}),
    },
    { text: waitingText(facts) },
    { text: holdersText(facts, now) },
  ];
}

function usedText({ held, limit: most, per }: LimitFacts): string {
  return `${held} of ${most ?? '?'}${per === undefined ? '' : ` per ${lengthOf(per)}`}`;
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
