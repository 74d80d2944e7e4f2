import { z } from 'zod';
import { openDatabase, type QueueFacts } from '../../client.js';
import { problem } from '../../errors.js';
import { queueSchema } from '../../model/scalars.js';
import { actionOf } from '../action.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { tableLines } from '../table.js';

const flags = z.object({ reason: z.string().optional() });
const actions = ['list', 'pause', 'resume'] as const;

/** `tws queue`: which queues there are; a paused one begins no step of its jobs. */
export const queue = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...names] = args;
  const action = actionOf('queue', word, actions);
  const wrong = usageProblem(action, names, said.reason);
  if (wrong !== undefined) throw problem('usage', { reason: wrong });
  const { client, close } = openDatabase(read());
  try {
    if (action === 'list') {
      const queues = await client.queues();
      printQueues(queues, io);
      for (const { id, problems } of await client.wrongQueueControls()) {
        for (const { message } of problems) io.warn(`warning: ${id}: ${message}`);
      }
      io.json(queues);
      return 0;
    }
    const paused = action === 'pause';
    const switched = [];
    for (const name of names) {
      const { ids, changed } = await client.switchQueue({ queue: name, paused, ...said });
      const done = paused ? 'paused' : 'resumed';
      const already = paused ? 'already paused' : 'not paused';
      io.out(changed ? `${done}: ${name}` : `skipping: ${name} (${already})`);
      switched.push({ queue: name, paused, changed, ids });
    }
    io.json(switched);
    return 0;
  } finally {
    await close();
  }
});

/** Why a call cannot be meant; undefined: it can. */
function usageProblem(
  action: (typeof actions)[number],
  names: readonly string[],
  reason: string | undefined,
): string | undefined {
  if (action === 'list' && names.length > 0) return '"tws queue list" takes no names.';
  if (action !== 'list' && names.length === 0)
    return `"tws queue ${action}" needs names of queues.`;
  if (action !== 'pause' && reason !== undefined) return `"tws queue ${action}" takes no --reason.`;
  const bad = names.find((name) => !queueSchema.safeParse(name).success);
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is no name of a queue.`;
}

function rateText({ limit, per, key }: NonNullable<QueueFacts['rate']>): string {
  const window = typeof per === 'number' ? `${per} ms` : per;
  return `${limit} per ${window}${key === undefined ? '' : ', by key'}`;
}

const head = ['QUEUE', 'STATE', 'ENGINES', 'RATE', 'REASON'];

function printQueues(queues: readonly QueueFacts[], io: Io): void {
  const rows = queues.map(({ name, paused, reason = '', rate, engines }) => [
    { text: name },
    { text: paused ? 'paused' : 'active', ...(paused ? { style: 'yellow' as const } : {}) },
    { text: String(engines.length) },
    { text: rate === undefined ? '' : rateText(rate) },
    { text: reason },
  ]);
  for (const line of tableLines(head, rows, io)) io.out(line);
}
