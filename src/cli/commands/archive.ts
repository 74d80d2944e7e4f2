import { z } from 'zod';
import { openDatabase, type ArchivedJob, type Client } from '../../client.js';
import { problem } from '../../errors.js';
import type { Retain } from '../../model/retain.js';
import { keyOf } from '../../model/task.js';
import { counted } from '../../words.js';
import { actionOf } from '../action.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { sinceFlag } from '../since-flag.js';
import { tableLines } from '../table.js';

const flags = z.object({ flow: z.string().optional(), since: sinceFlag });

const actions = ['list', 'show', 'restore'] as const;
type Action = (typeof actions)[number];

type Asked = {
  readonly client: Client;
  readonly from: { readonly usual: Retain | undefined; readonly root: string };
  readonly search: z.infer<typeof flags>;
  readonly job: string;
};

/** `tws archive`: the jobs that retention archived, one of them with its documents, and back again. */
export const archive = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...names] = args;
  const action = checkedAction(word, names, said);
  const { retain: usual, root, ...config } = read();
  const { client, close } = openDatabase(config);
  const asked: Asked = { client, from: { usual, root }, search: said, job: names[0] ?? '' };
  try {
    return await run(action, asked, io);
  } finally {
    await close();
  }
});

/** @throws TwsError `usage` */
function checkedAction(word: string, names: readonly string[], said: Asked['search']): Action {
  const action = actionOf('archive', word, actions);
  const wanted = action === 'list' ? 0 : 1;
  if (names.length !== wanted) {
    const takes = wanted === 0 ? 'takes no job' : 'takes the id of one job';
    throw problem('usage', { reason: `"tws archive ${action}" ${takes}.` });
  }
  const isFiltered = said.flow !== undefined || said.since !== undefined;
  if (action !== 'list' && isFiltered) {
    throw problem('usage', { reason: '--flow and --since go with "tws archive list" only.' });
  }
  return action;
}

async function run(action: Action, { client, from, search, job }: Asked, io: Io): Promise<number> {
  switch (action) {
    case 'list': {
      const jobs = await client.archived(from, search);
      io.json(jobs);
      for (const line of linesOf(jobs, io)) io.out(line);
      if (jobs.length === 0) io.say('No archived job fits.');
      return 0;
    }
    case 'show': {
      const { docs, ...facts } = await client.archivedJob(from, { job });
      io.json({ ...facts, docs });
      for (const line of linesOf([facts], io)) io.out(line);
      io.block(JSON.stringify(docs[0], null, 2));
      for (const { _id } of docs.slice(1)) io.out(`with it: ${_id}`);
      return 0;
    }
    case 'restore': {
      const { stored, there } = await client.restore(from, job);
      io.json({ job, stored, there });
      const was = there.length === 0 ? '' : `; ${counted(there.length, 'job')} there already`;
      io.out(`restored: ${counted(stored.length, 'job')}${was}`);
      return 0;
    }
  }
}

function linesOf(jobs: readonly ArchivedJob[], io: Io): readonly string[] {
  return tableLines(
    ['JOB', 'FLOW', 'STATUS', 'ENDED', 'DOCUMENTS', 'ARCHIVE'],
    jobs.map(({ job, flow, owner, status, end, documents, archive: place }) => [
      { text: job },
      { text: flow === '' ? `(no flow)::${owner}` : keyOf(flow, owner) },
      { text: status },
      { text: new Date(end).toISOString() },
      { text: String(documents) },
      { text: place },
    ]),
    io,
  );
}
