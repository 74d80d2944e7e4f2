import { z } from 'zod';
import { engineSchema } from '../model/engine.js';
import { epochMsSchema, statusSchema } from '../model/summary.js';

/** What the routes about engines, figures, tokens and sessions answer. */

export const engineListSchema = z
  .object({
    engines: z.array(
      engineSchema.omit({ _id: true, type: true }).extend({
        id: z.string(),
        alive: z.boolean(),
        in_hand: z.number().describe('Steps it runs now.'),
      }),
    ),
  })
  .meta({ id: 'EngineList' });

const countsSchema = z.record(statusSchema, z.number());

export const statsSchema = z
  .object({
    now: epochMsSchema,
    jobs: countsSchema.describe('By status, as of the last change of each.'),
    engines: z.object({ alive: z.number(), slots: z.number(), in_hand: z.number() }),
    spans: z
      .array(
        z.object({
          at: epochMsSchema,
          succeeded: z.number(),
          failed: z.number(),
          cancelled: z.number(),
          ms: z.object({ mean: z.number(), min: z.number(), max: z.number() }).optional(),
        }),
      )
      .optional()
      .describe('What ended when, the oldest first; with "from" and "to".'),
  })
  .meta({ id: 'Stats' });

export const failuresSchema = z
  .object({
    groups: z
      .array(
        z.object({
          failure: z.string().describe('Name of the failure; empty: it has none.'),
          count: z.number(),
          flows: z.array(z.object({ flow: z.string(), count: z.number() })),
          newest: z
            .object({ id: z.string(), at: epochMsSchema, message: z.string().optional() })
            .describe('The job that began last, and what it says.'),
        }),
      )
      .describe('The largest first.'),
    looked: z
      .number()
      .describe('So many failed jobs were counted, the newest of those that the caller may see.'),
    more: z.boolean().describe('true: there are older ones.'),
  })
  .meta({ id: 'Failures' });

export const whoSchema = z
  .object({
    name: z.string(),
    kind: z.enum(['local', 'user', 'token']),
    level: z.enum(['none', 'viewer', 'operator', 'admin']),
    owners: z.union([z.literal('all'), z.array(z.string())]),
    roles: z.array(z.string()),
    place: z
      .object({
        project: z.string().describe('The folder of the project that is served.'),
        database: z.string(),
        fauxton: z
          .string()
          .optional()
          .describe('Address of the database in Fauxton; for those who may see all of it.'),
        docs: z.boolean().describe('Whether this server has the documentation.'),
      })
      .optional()
      .describe('What is looked at; for those who have a role.'),
  })
  .meta({ id: 'Who' });

const tokenShape = {
  id: z.string(),
  name: z.string().describe('What it is for.'),
  roles: z.array(z.string()),
  created: epochMsSchema,
  expires: epochMsSchema.optional().describe('Not valid from then on.'),
};

export const tokenListSchema = z
  .object({ tokens: z.array(z.object(tokenShape)) })
  .meta({ id: 'TokenList' });

export const newTokenSchema = z
  .object({
    ...tokenShape,
    token: z.string().describe('For the header authorization: Bearer …; it is told this once.'),
  })
  .meta({ id: 'NewToken' });

export const readySchema = z
  .object({
    ready: z.boolean(),
    checks: z.array(z.object({ what: z.string(), ok: z.boolean(), says: z.string() })),
  })
  .meta({ id: 'Ready' });
