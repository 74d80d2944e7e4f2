import { z } from 'zod';
import { epochMsSchema } from '../../model/summary.js';
import { ownersFor } from '../access/owners.js';
import { route } from '../route.js';
import { countParam, known } from './common.js';

const limitSchema = z
  .object({
    kind: z.enum(['concurrency', 'rate']).describe('`max_running` is a concurrency, too.'),
    title: z.string().describe('How sentences name it.'),
    of: z.enum(['flow', 'task', 'queue', 'name']).describe('name: all limits of that name.'),
    name: z.string(),
    owner: z.string().optional().describe('Whose it is; a queue has no owner.'),
    key: z.string().optional().describe('The value of its key, as JSON, or a hash.'),
    limit: z.number().optional(),
    per: z.number().optional().describe('Of a rate: the length of its window, ms.'),
    held: z.number().describe('Permits that are held; of a rate: how many began in its window.'),
    holders: z
      .array(
        z.object({
          job: z.string(),
          step: z.string().optional().describe('Path of the step.'),
          since: epochMsSchema,
        }),
      )
      .describe('As many as `named`, only jobs that may be seen; of a rate the latest first.'),
    waiting: z.number().describe('How many jobs wait for it.'),
    line: z
      .array(
        z.object({
          job: z.string(),
          place: z.number().describe('Its place in line, from 1.'),
          to: z
            .number()
            .optional()
            .describe('The last place that it may have, beside others that have not begun.'),
          since: epochMsSchema.optional().describe('When it began; absent: it has not begun.'),
        }),
      )
      .describe(
        'The jobs that wait, the first one first; as many as `named`, only those that may be seen.',
      ),
  })
  .meta({ id: 'Limit' });

/** `GET /limits`: what jobs hold, and what they wait for. */
export const limitsRoute = route({
  method: 'GET',
  path: '/limits',
  id: 'listLimits',
  tag: 'operation',
  summary: 'The limits that jobs hold or wait for: permits and rates.',
  description:
    'Of limits of other owners only those that jobs of your owners hold or wait for; other jobs are counted, not named.',
  access: 'viewer',
  query: z.object({
    owner: z.string().optional(),
    limit: countParam(1, 1_000).optional().describe('At most this many; default 100.'),
    name: z
      .string()
      .optional()
      .describe('Only those of a flow, task, queue or limit of that name.'),
    named: countParam(1, 1_000)
      .optional()
      .describe('So many holders and so many that wait are named of each; default 10.'),
  }),
  answers: {
    200: {
      description: 'The limits, those with the longest line first.',
      schema: z
        .object({
          limits: z.array(limitSchema),
          more: z.number().describe('So many others are in use.'),
          partly: z.boolean().describe('true: not all jobs and documents were looked at.'),
        })
        .meta({ id: 'Limits' }),
    },
  },
  problems: ['owner_refused'],
  handle: async ({ api, query: { owner, limit: most, name, named }, principal }) => {
    const owners = ownersFor(known({ principal }), owner);
    return { status: 200, body: await api.client.limits({ owners, most, name, named }) };
  },
});
