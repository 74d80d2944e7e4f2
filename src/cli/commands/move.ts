import { z } from 'zod';
import {
  moveDatabase,
  moveBack,
  type MoveResult,
  type MoveOptions,
  type MoveStage,
} from '../../client-rules.js';
import { splitUrl } from '../../config/credentials.js';
import { problem } from '../../errors.js';
import { percentDecoded } from '../../model/percent.js';
import { createKeyring } from '../../secrets/keyring.js';
import { openVault } from '../../sensitive/vault.js';
import { counted } from '../../words.js';
import { defineCommand, secondsFrom, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { confirming } from '../prompt.js';
import { withVault } from '../sensitive-values.js';
import { withStages } from '../stages.js';

const flags = z.object({
  to: z.string().optional(),
  wait: secondsFrom(0),
  undo: switchFlag,
  confirm: z.boolean().default(true),
});

/** How long running steps may take to end, s. */
const usualWait = 60;

/** The variable that keeps a password off the command line. */
const variable = 'TWS_MOVE_TO';

type Place = MoveOptions['from'];

/** `tws move`: the database to another server, or to another name, while engines work. */
export const move = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const from: Place = read();
  const to = targetOf(said.to ?? io.env[variable], from);
  if (said.undo) return undo({ from, to }, io);
  if (said.confirm && !(await isAgreed({ from, to }, io))) return 1;
  const moved = await withStages(io, (tell) =>
    moveDatabase({
      ...{ from, to, signal: io.stop },
      tell: (stage) => tell(stage.kind, lineOf(stage)),
      waitMs: (said.wait ?? usualWait) * 1_000,
      prepareSensitive: (beside) =>
        withVault(openVault(beside, createKeyring(undefined)), (vault) => vault.prepare()),
    }),
  );
  io.json({ ...moved, from: shown(from) });
  for (const line of linesOf(moved, { from, to })) io.out(line);
  return 0;
});

/** The last part of the path is the database; without a path it keeps its name. @throws TwsError `usage` */
function targetOf(given: string | undefined, from: Place): Place {
  if (given === undefined || given === '') {
    const reason = `Say where to: --to http://user@host:5984/database, or the same in ${variable}.`;
    throw problem('usage', { reason });
  }
  const { url, user, password } = splitUrl({ value: given, origin: '--to' });
  const { origin, pathname } = new URL(url);
  const parts = pathname.split('/').filter(Boolean);
  const database = parts.pop();
  return {
    url: [origin, ...parts].join('/'),
    database: database === undefined ? from.database : percentDecoded(database),
    app: from.app,
    ...(user === '' ? {} : { user, password }),
  };
}

type Places = { readonly from: Place; readonly to: Place };

const shown = ({ url, database }: Place): string => `${url}/${database}`;

async function isAgreed({ from, to }: Places, io: Io): Promise<boolean> {
  const ask = await confirming(io, 'Moving a database');
  io.say(`${shown(from)} takes no writes any more once it has moved.`);
  return ask.confirm(`Move ${shown(from)} to ${shown(to)}?`, false);
}

async function undo({ from, to }: Places, io: Io): Promise<number> {
  await moveBack({ from, to });
  io.json({ undone: true, from: shown(from), to: shown(to) });
  io.out(`${shown(from)} takes writes again; engines may work there.`);
  return 0;
}

function lineOf(stage: MoveStage): string {
  switch (stage.kind) {
    case 'copying':
      return `copying: ${stage.written} of ${counted(stage.documents, 'document')}`;
    case 'waiting':
      return `waiting: ${counted(stage.steps.length, 'step')} still ${stage.steps.length === 1 ? 'runs' : 'run'}; no new one begins`;
    case 'cutting_over':
      return 'cutting over: the old database takes no writes any more';
    case 'comparing':
      return 'comparing the databases';
  }
}

function linesOf({ documents, sensitive }: MoveResult, { from, to }: Places): readonly string[] {
  return [
    documents === undefined
      ? 'already moved: nothing to do'
      : `moved: ${counted(documents, 'document')}, each compared`,
    ...(sensitive === undefined
      ? []
      : [
          `moved: ${counted(sensitive, 'document')} of sensitive values and keys, sealed as they are, each compared`,
          'Delete the old databases of sensitive values when you have tried the new ones: until then no purge is final.',
        ]),
    `from: ${shown(from)}, which refuses writes from now on`,
    `to: ${shown(to)}`,
    'Set COUCH_URL and COUCH_DATABASE to it (or url and database in tws.json), and start the engines again.',
  ];
}
