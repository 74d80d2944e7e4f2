import { z } from 'zod';
import { rateSchema } from '../../model/rate.js';
import { queueSchema } from '../../model/scalars.js';
import { assertAllOwners } from '../access/owners.js';
import { route, type Route } from '../route.js';
import { known, ofAllOwners } from './common.js';

const queueFactsSchema = z
  .object({
    name: z.string(),
    paused: z.boolean(),
    reason: z.string().optional().describe('Why it is paused.'),
    rate: rateSchema.optional(),
    engines: z.array(z.string()).describe('Engines that serve it and were not stopped.'),
    controls: z.array(z.string()).describe('Documents that control it.'),
  })
  .meta({ id: 'Queue' });

const switchedSchema = z
  .object({
    queue: z.string(),
    paused: z.boolean(),
    changed: z.boolean(),
    ids: z.array(z.string()).describe('Documents that say so.'),
  })
  .meta({ id: 'QueueSwitched' });

const listRoute = route({
  method: 'GET',
  path: '/queues',
  id: 'listQueues',
  tag: 'operation',
  summary: 'The queues that engines serve or somebody controls.',
  access: 'viewer',
  answers: {
    200: {
      description: 'The queues, by name.',
      schema: z
        .object({
          queues: z.array(queueFactsSchema),
          wrong: z
            .array(
              z.object({
                id: z.string(),
                problems: z.array(z.object({ path: z.string(), message: z.string() })),
              }),
            )
            .describe('Controls with mistakes: engines follow only what they can read of them.'),
        })
        .meta({ id: 'Queues' }),
    },
  },
  handle: async ({ api }) => {
    const documents = await api.client.engines();
    const engines = api.pulse.look(documents, api.now());
    const alive = new Set(engines.flatMap((one) => (one.alive ? [one.engine._id] : [])));
    const all = await api.client.queues(documents);
    const queues = all.map((queue) => ({
      ...queue,
      engines: queue.engines.filter((id) => alive.has(id)),
    }));
    const wrong = await api.client.wrongQueueControls();
    return { status: 200, body: { queues, wrong } };
  },
});

const switchRoutes: readonly Route[] = (['pause', 'resume'] as const).map((word) =>
  route({
    method: 'POST',
    path: `/queues/{name}/${word}`,
    id: `${word}Queue`,
    tag: 'operation',
    summary:
      word === 'pause'
        ? 'Pause a queue: its jobs begin no step, and workers get nothing from it; steps that run finish.'
        : 'Resume a queue.',
    description: ofAllOwners,
    access: 'operator',
    params: z.object({ name: queueSchema.describe('Name of the queue.') }),
    body: {
      schema: z.strictObject({ reason: z.string().optional().describe('Why, for people.') }),
      optional: true,
    },
    answers: { 200: { description: 'It is so now.', schema: switchedSchema } },
    problems: ['owners_needed', 'document_conflict'],
    handle: async ({ api, params: { name: queue }, body, principal }) => {
      assertAllOwners(known({ principal }), `${word} a queue`);
      const paused = word === 'pause';
      const done = await api.client.switchQueue({ queue, paused, reason: body?.reason });
      return { status: 200, body: { queue, paused, ...done } };
    },
  }),
);

/** Queues: a list, and their pauses. */
export const queueRoutes: readonly Route[] = [listRoute, ...switchRoutes];
