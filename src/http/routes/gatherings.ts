import { z } from 'zod';
import { gatheringWays } from '../../model/gathering.js';
import { epochMsSchema } from '../../model/summary.js';
import { ownersFor } from '../access/owners.js';
import { route } from '../route.js';
import { countParam, known } from './common.js';

const gatheredSchema = z
  .object({
    id: z.string(),
    flow: z.string(),
    owner: z.string(),
    entry: z.number().describe('Which entry of `on` of the flow, from 0.'),
    by: z.enum(gatheringWays),
    key: z.string().optional().describe('The value of the key, as JSON, or a hash.'),
    event: z.string().optional().describe('What the events are called.'),
    count: z.number().describe('How many events wait.'),
    size: z.number().describe('The job starts as soon as there are so many.'),
    events: z.array(z.string()).describe('Ids of events that wait; at most 10, the first first.'),
    due: epochMsSchema.optional().describe('When their job starts, unless other events come.'),
    starting: z.string().optional().describe('A job that is being made for events before them.'),
  })
  .meta({ id: 'Gathering' });

/** `GET /gatherings`: what triggers with `debounce` or `batch` hold back. */
export const gatheringsRoute = route({
  method: 'GET',
  path: '/gatherings',
  id: 'listGatherings',
  tag: 'operation',
  summary: 'The events that wait for a job of a trigger with `debounce` or `batch`.',
  access: 'viewer',
  query: z.object({
    owner: z.string().optional(),
    flow: z.string().optional().describe('Only for jobs of this flow.'),
    limit: countParam(1, 1_000).optional().describe('At most this many; default 100.'),
  }),
  answers: {
    200: {
      description: 'What is gathered; those whose job starts first come first.',
      schema: z
        .object({
          gatherings: z.array(gatheredSchema),
          more: z.boolean().describe('true: there are others.'),
        })
        .meta({ id: 'Gatherings' }),
    },
  },
  problems: ['owner_refused'],
  handle: async ({ api, query: { owner, flow, limit: most }, principal }) => {
    const owners = ownersFor(known({ principal }), owner);
    return { status: 200, body: await api.client.gatherings({ owners, flow, most }) };
  },
});
