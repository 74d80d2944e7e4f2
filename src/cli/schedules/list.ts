import type { Client } from '../../client.js';
import { momentFrom } from '../../words.js';
import type { Io } from '../io.js';
import { tableLines, type TableCell } from '../table.js';
import { scheduleColour, scheduleFacts, type ScheduleFacts } from './facts.js';

const head = ['NAME', 'OWNER', 'FLOW', 'WHEN', 'STATUS', 'NEXT', 'LAST', 'ID'];

/** Prints all schedules by name, or those of an owner. Returns them for JSON. */
export async function printSchedules(
  client: Client,
  owner: string | undefined,
  io: Io,
): Promise<readonly ScheduleFacts[]> {
  const now = Date.now();
  const docs = await client.schedules(owner === undefined ? undefined : [owner]);
  const all = await Promise.all(docs.map((doc) => scheduleFacts(client, doc, now)));
  const rows = all.map((facts) => cellsOf(facts, now, io.resultsOnTerminal));
  for (const line of tableLines(head, rows, io)) io.out(line);
  const whose = owner === undefined ? '' : ` of owner "${owner}"`;
  if (all.length === 0) io.say(`There is no schedule${whose} yet; \`tws push\` stores some.`);
  return all;
}

function cellsOf(facts: ScheduleFacts, now: number, relative: boolean): readonly TableCell[] {
  const { id, name, owner, flow, when, status, next, last } = facts;
  const shown = (time: string): string => (relative ? momentFrom(now, Date.parse(time)) : time);
  return [
    { text: name },
    { text: owner },
    { text: flow },
    { text: when },
    { text: status, style: scheduleColour(status) },
    { text: next === undefined ? '-' : shown(next.due) },
    { text: last === undefined ? '-' : `${last.kind} ${shown(last.slot)}` },
    { text: id, style: 'dim' },
  ];
}
