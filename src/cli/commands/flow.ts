import { z } from 'zod';
import { openDatabase, type Client, type FlowName, type FlowVersions } from '../../client.js';
import { problem } from '../../errors.js';
import { versionName } from '../../model/flow-versions.js';
import { defaultOwner } from '../../model/task.js';
import { counted } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import { flowDifferences } from '../flow-diff.js';
import type { Io } from '../io.js';
import { tableLines } from '../table.js';

const flags = z.object({});
const actions = ['versions', 'diff', 'use', 'rollback'] as const;
type Action = (typeof actions)[number];

/** `tws flow`: the versions of a flow, and which of them is current. */
export const flow = defineCommand(flags, async ({ args, config: read }, io) => {
  const [word = '', ...words] = args;
  const action = actionOf('flow', word, actions);
  const missing = needed[action].length - words.length;
  if (missing !== 0) {
    const reason = `"tws flow ${action}" needs ${needed[action].join(' ')}.`;
    throw problem('usage', { reason });
  }
  const config = read();
  const [called = '', ...versions] = words;
  const [name = called, owner = chosenOwner(config) ?? defaultOwner] = called.split('::');
  const { client, close } = openDatabase(config);
  try {
    return await run[action](client, { name, owner }, versions, io);
  } finally {
    await close();
  }
});

const needed = {
  versions: ['NAME'],
  diff: ['NAME', 'VERSION', 'VERSION'],
  use: ['NAME', 'VERSION'],
  rollback: ['NAME'],
} as const satisfies Record<Action, readonly string[]>;

type Run = (
  client: Client,
  named: FlowName,
  versions: readonly string[],
  io: Io,
) => Promise<number>;

const run: Readonly<Record<Action, Run>> = {
  versions: async (client, named, _versions, io) => {
    const found = await client.flowVersions(named);
    printVersions(found, io);
    io.json(found);
    return 0;
  },
  diff: async (client, named, [one = '', other = ''], io) => {
    const from = await client.flowVersion(named, one);
    const to = await client.flowVersion(named, other);
    const differences = flowDifferences(from, to);
    if (differences.length === 0) io.say(`${from._id} and ${to._id} do not differ.`);
    for (const { path, ...values } of differences) {
      io.out(path);
      if ('from' in values) io.out(io.style('red', `  - ${JSON.stringify(values.from)}`));
      if ('to' in values) io.out(io.style('green', `  + ${JSON.stringify(values.to)}`));
    }
    io.json({ from: from._id, to: to._id, differences });
    return 0;
  },
  use: (client, named, [version], io) => makeCurrent(client, named, version, io),
  rollback: (client, named, _versions, io) => makeCurrent(client, named, undefined, io),
};

async function makeCurrent(
  client: Client,
  named: FlowName,
  wanted: string | undefined,
  io: Io,
): Promise<number> {
  const made = await client.useFlowVersion(named, wanted);
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
  const rows = versions.map(({ id, version, patch, current, since, jobs }) => {
    const from = since === undefined ? '' : ` since ${new Date(since).toISOString()}`;
    return [
      { text: `${version ?? '-'}${patch === undefined ? '' : ` (patch ${patch})`}` },
      { text: current ? `yes${from}` : '', ...(current ? { style: 'green' as const } : {}) },
      { text: String(jobs) },
      { text: id },
    ];
  });
  for (const line of tableLines(head, rows, io)) io.out(line);
  if (why !== undefined) io.warn(`warning: ${why}`);
  if (partly) io.say(`Only the first ${counted(10_000, 'unfinished job')} were counted.`);
}
