import { z } from 'zod';
import { openDatabase, type Client, type FlowName } from '../../client.js';
import { problem } from '../../errors.js';
import { versionName, type FlowVersions } from '../../model/flow-versions.js';
import { defaultOwner } from '../../model/task.js';
import { counted } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import { flowDifferences } from '../../reading/flow-differences.js';
import type { Io } from '../io.js';
import { tableLines } from '../table.js';

const flags = z.object({ by: z.string().min(1, { error: 'must be a name' }).optional() });
const actions = ['versions', 'diff', 'use', 'rollback'] as const;
type Action = (typeof actions)[number];

/** `tws flow`: the versions of a flow, and which of them is current. */
export const flow = defineCommand(flags, async ({ args, flags: { by }, config: read }, io) => {
  const [word = '', ...words] = args;
  const action = actionOf('flow', word, actions);
  const isOfOne = action === 'diff' && words.length === 2;
  if (needed[action].length !== words.length && !isOfOne) {
    const reason = `"tws flow ${action}" needs ${needed[action].join(' ')}.`;
    throw problem('usage', { reason });
  }
  const config = read();
  const [called = '', ...versions] = words;
  const [name = called, owner = chosenOwner(config) ?? defaultOwner] = called.split('::');
  const { client, close } = openDatabase(config);
  try {
    return await run[action]({ client, named: { name, owner }, by, io }, versions);
  } finally {
    await close();
  }
});

const needed = {
  versions: ['NAME'],
  diff: ['NAME', 'VERSION', '[VERSION]'],
  use: ['NAME', 'VERSION'],
  rollback: ['NAME'],
} as const satisfies Record<Action, readonly string[]>;

type Asked = {
  readonly client: Client;
  readonly named: FlowName;
  readonly by: string | undefined;
  readonly io: Io;
};
type Run = (asked: Asked, versions: readonly string[]) => Promise<number>;

const run: Readonly<Record<Action, Run>> = {
  versions: async ({ client, named, io }) => {
    const found = await client.flowVersions(named);
    printVersions(found, io);
    io.json(found);
    return 0;
  },
  diff: async ({ client, named, io }, [one, other]) => {
    const from = await client.flowVersion(named, one);
    const to = await client.flowVersion(named, other);
    const differences = flowDifferences(from, to);
    if (from._id === to._id)
      io.say(`${from._id} is the current one itself; name another to compare.`);
    else if (differences.length === 0) io.say(`${from._id} and ${to._id} do not differ.`);
    for (const { path, ...values } of differences) {
      io.out(path);
      if ('from' in values) io.out(io.style('red', `  - ${JSON.stringify(values.from)}`));
      if ('to' in values) io.out(io.style('green', `  + ${JSON.stringify(values.to)}`));
    }
    io.json({ from: from._id, to: to._id, differences });
    return 0;
  },
  use: (asked, [version]) => makeCurrent(asked, version),
  rollback: (asked) => makeCurrent(asked, undefined),
};

async function makeCurrent(
  { client, named, by, io }: Asked,
  wanted: string | undefined,
): Promise<number> {
  const made = await client.useFlowVersion(named, wanted, by);
  const which = `${named.name} ${versionName(made.version)} (${made.id})`;
  if (!made.changed) io.out(`skipping: ${which} is current already`);
  else {
    const before = made.before === undefined ? '' : `, before: ${made.before}`;
    io.out(`current: ${which}${before}`);
    io.say('New jobs take it. Jobs that have begun continue with what they began with.');
  }
  io.json(made);
  return 0;
}

const head = ['VERSION', 'CURRENT', 'JOBS', 'DOCUMENT'];

function printVersions({ versions, problem: why, partly }: FlowVersions, io: Io): void {
  const rows = versions.map(({ id, version, patch, current, since, by, jobs }) => {
    const who = by === undefined ? '' : ` by ${by}`;
    const from = since === undefined ? '' : ` since ${new Date(since).toISOString()}${who}`;
    return [
      { text: `${version ?? '-'}${patch === undefined ? '' : ` (patch ${patch})`}` },
      { text: current ? `yes${from}` : '', ...(current ? { style: 'green' as const } : {}) },
      { text: String(jobs ?? '') },
      { text: id },
    ];
  });
  for (const line of tableLines(head, rows, io)) io.out(line);
  if (why !== undefined) io.warn(`warning: ${why}`);
  if (partly) io.say(`Only the first ${counted(10_000, 'unfinished job')} were counted.`);
}
