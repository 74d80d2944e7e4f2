import { z } from 'zod';
import {
  openDatabase,
  type Client,
  type NotifyTarget,
  type NotifyTest,
  type TestedEvent,
} from '../../client.js';
import { problem } from '../../errors.js';
import { isObject } from '../../model/object.js';
import { toldOccasions } from '../../model/occasions.js';
import { textOf } from '../../words.js';
import { actionOf } from '../action.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { tableLines } from '../table.js';

const actions = ['list', 'test'] as const;

const noList =
  'No notify list and no "notify" of tws.json names anybody; `--flow NAME` shows whom that flow notifies.';

const flags = z.object({
  flow: z.string().optional(),
  event: z.string().optional(),
});

/** `tws notify`: who is notified of jobs, and whether that works. Exit 1 when a test was not sent. */
export const notify = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...others] = args;
  const action = actionOf('notify', word, actions);
  const event = eventOf(said.event);
  if (others.length > 0)
    throw problem('usage', { reason: `"tws notify ${action}" takes no names.` });
  if (action === 'list' && said.event !== undefined) {
    throw problem('usage', { reason: '"tws notify list" takes no --event.' });
  }
  const config = read();
  const { client, close } = openDatabase(config);
  const query = { owner: config.owner, flow: said.flow, settings: config.notify };
  try {
    if (action === 'list') {
      const targets = await client.notified(query);
      if (targets.length === 0) io.out(said.flow === undefined ? noList : 'Nobody is notified.');
      else printTargets(targets, io);
      io.json(targets);
      return 0;
    }
    const tests = await client.testNotify({ ...query, event });
    if (tests.length === 0) {
      io.out(`Nobody is notified of "${event}".`);
      io.json([]);
      return 0;
    }
    const sent = [];
    for (const test of tests) sent.push(await tellOutcome(test, client, io));
    io.json(sent);
    return sent.every((one) => one.sent) ? 0 : 1;
  } finally {
    await close();
  }
});

/** How long a test is waited for, ms: a webhook is tried for a day. */
const patienceMs = 30_000;

/** Waits until a test was sent or was not, and says which. */
async function tellOutcome(test: NotifyTest, client: Client, io: Io) {
  const signal = AbortSignal.timeout(patienceMs);
  const ended = await client.watch(test.job, { signal });
  const sent = ended?.['exit'] === 0;
  const failure = ended?.['failure'];
  const message = isObject(failure) ? textOf(failure['message']) : '';
  const unsent = ended === undefined ? 'It was not sent within 30 s.' : message;
  io.out(`${sent ? 'sent' : 'not sent'}: ${wordsOf(test)}`);
  if (!sent) io.say(`${unsent} See \`tws explain ${test.job}\`.`);
  return { ...test, sent };
}

function eventOf(word = 'failed'): TestedEvent {
  const event = toldOccasions.find((one) => one === word);
  if (event !== undefined) return event;
  throw problem('usage', {
    reason: `--event must be one of ${toldOccasions.join(', ')}; it is "${word}".`,
  });
}

const head = ['FROM', 'ENTRY', 'ON', 'TO'];

function printTargets(targets: readonly NotifyTarget[], io: Io): void {
  const rows = targets.map(({ from, at, on, kind, to }) => [
    { text: from },
    { text: String(at) },
    { text: on.join(', ') },
    { text: `${kind} ${to}` },
  ]);
  for (const line of tableLines(head, rows, io)) io.out(line);
}

function wordsOf({ from, at, kind, to }: NotifyTest): string {
  return `${kind} ${to}, entry ${at} of ${from}`;
}
