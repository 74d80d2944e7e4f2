import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { scheduleStatus } from '../../reading/schedule.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, numberFlag, secondsFlag, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { theOne } from '../naming.js';
import { changeBackfill, pauseEach } from '../schedules/change.js';
import { slotFacts } from '../schedules/facts.js';
import { problemSentences } from '../schedules-and-hooks.js';
import { printSchedules } from '../schedules/list.js';
import { printSlots, showSchedule } from '../schedules/show.js';
import { sinceFlag } from '../since-flag.js';
import { giveUpSeconds, waitForJob } from '../waiting.js';

const flags = z.object({
  count: numberFlag(1, 1_000),
  from: sinceFlag,
  until: sinceFlag,
  atOnce: numberFlag(1),
  cancel: switchFlag,
  wait: switchFlag,
  timeout: secondsFlag,
  by: z.string().optional(),
});
type Flags = z.infer<typeof flags>;

/** `names`: how many schedules an action takes; `options`: those that it knows. */
const actions = {
  list: { names: 'none', options: [] },
  show: { names: 'one', options: [] },
  next: { names: 'one', options: ['count'] },
  pause: { names: 'some', options: [] },
  resume: { names: 'some', options: [] },
  run: { names: 'one', options: ['wait', 'timeout', 'by'] },
  backfill: { names: 'one', options: ['from', 'until', 'atOnce', 'cancel', 'by'] },
} as const satisfies Readonly<
  Record<string, { names: 'none' | 'one' | 'some'; options: readonly (keyof Flags)[] }>
>;
type Action = keyof typeof actions;

/** `tws schedule`: what schedules there are, what came of them, and what is to become of them. */
export const schedule = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...names] = args;
  const action = checkedAction(word, names, said);
  const config = read();
  const { client, close } = openDatabase(config);
  try {
    return await run(action, { names, said, config, client }, io);
  } finally {
    await close();
  }
});

/** @throws TwsError `usage` */
function checkedAction(word: string, names: readonly string[], said: Flags): Action {
  const action = actionOf('schedule', word, Object.keys(actions) as Action[]);
  const { names: wanted, options } = actions[action];
  const isFit =
    wanted === 'none'
      ? names.length === 0
      : wanted === 'one'
        ? names.length === 1
        : names.length > 0;
  if (!isFit) {
    const words = { none: 'no name', one: 'the name of one schedule', some: 'names of schedules' };
    throw problem('usage', { reason: `tws schedule ${action} takes ${words[wanted]}.` });
  }
  const known: readonly string[] = options;
  const odd = Object.entries(said).find(
    ([flag, value]) => value !== undefined && value !== false && !known.includes(flag),
  );
  if (odd === undefined) return action;
  const flag = odd[0].replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw problem('usage', { reason: `tws schedule ${action} has no option --${flag}.` });
}

type Called = {
  readonly names: readonly string[];
  readonly said: Flags;
  readonly config: Config;
  readonly client: Client;
};

async function run(action: Action, called: Called, io: Io): Promise<number> {
  const { names, said, config, client } = called;
  const owner = chosenOwner(config);
  const find = async (name: string): Promise<StoredDocument> =>
    theOne(await client.lookUp(name, { kinds: ['schedule'], owner }), name, ['schedule'], io);
  const [name = ''] = names;
  switch (action) {
    case 'list':
      io.json(await printSchedules(client, owner, io));
      return 0;
    case 'show':
      io.json(await showSchedule(client, await find(name), io));
      return 0;
    case 'next':
      io.json(await nextOf(client, await find(name), said.count, io));
      return 0;
    case 'pause':
    case 'resume':
      return pauseEach(names, find, { client, paused: action === 'pause' }, io);
    case 'run':
      return runNow(called, await find(name), io);
    case 'backfill':
      await changeBackfill(client, await find(name), said, io);
      return 0;
  }
}

/** Number of slots that are shown without `--count`. */
const usualCount = 10;

async function nextOf(client: Client, doc: StoredDocument, count = usualCount, io: Io) {
  const slots = (await client.nextSlots(doc, count, Date.now())).map(slotFacts);
  const { _id: id } = doc;
  const status = scheduleStatus(doc);
  const [first, ...others] = slots.length === 0 ? problemSentences(doc) : [];
  if (first !== undefined)
    throw problem('document_invalid', { kind: 'schedule', first, more: others.length });
  if (slots.length === 0) {
    io.say(`Schedule ${id} has no further slot; \`tws schedule show ${id}\` tells more.`);
  } else if (status === 'paused') {
    io.warn(`Schedule ${id} is paused: none of these slots starts a job until it is resumed.`);
  }
  return printSlots(slots, io);
}

async function runNow({ client, config, said }: Called, doc: StoredDocument, io: Io) {
  const submitted = await client.runSchedule(doc._id, Date.now(), said.by);
  const { id } = submitted;
  io.out(submitted.existed ? `skipping: ${id} (already submitted)` : `submitted: ${id}`);
  if (!said.wait) {
    io.json(submitted);
    return 0;
  }
  const { database, leaseMs } = config;
  const limits = {
    giveUpMs: giveUpSeconds * 1_000,
    timeoutMs: said.timeout === undefined ? undefined : said.timeout * 1_000,
  };
  return waitForJob(client, { id, database, leaseMs, ...limits }, io);
}
