import { z } from 'zod';
import { epochMsSchema } from '../model/summary.js';
import { problemSchema } from './answers/problems.js';
import { requestedSchema } from './schemas.js';

/** What the routes about versions of flows, and about moving jobs to them, answer. */

export const flowVersionsSchema = z
  .object({
    name: z.string(),
    owner: z.string(),
    versions: z.array(
      z.object({
        id: z.string().describe('Id of the document.'),
        rev: z.string(),
        version: z.string().optional(),
        patch: z.string().optional(),
        current: z.boolean().describe('Jobs get it that ask for no version.'),
        since: epochMsSchema.optional().describe('Since when it is current, or last became so.'),
        by: z.string().optional().describe('Who made it so, where that is known.'),
        jobs: z
          .number()
          .optional()
          .describe('Jobs that have not ended and run it, or will take it as it is now.'),
      }),
    ),
    problem: z.string().optional().describe('Why none of them is current.'),
    partly: z.boolean().describe('true: there are more jobs than were counted.'),
  })
  .meta({ id: 'FlowVersions' });

export const flowDifferencesSchema = z
  .object({
    from: z.string().describe('Id of a document.'),
    to: z.string().describe('Id of the other one.'),
    differences: z.array(
      z.object({
        path: z.string().describe('Where they differ: a JSON path.'),
        from: z.unknown().optional().describe('What is there in the one; absent: nothing.'),
        to: z.unknown().optional().describe('What is there in the other one.'),
      }),
    ),
  })
  .meta({ id: 'FlowDifferences' });

export const madeCurrentSchema = z
  .object({
    id: z.string().describe('Id of the document that is current now.'),
    version: z.string().optional(),
    before: z.string().optional().describe('Id of the document that was current before.'),
    changed: z.boolean().describe('false: it was current already.'),
  })
  .meta({ id: 'MadeCurrent' });

const pointSchema = z.object({ version: z.string().optional(), rev: z.string().optional() });

export const migrationsSchema = z
  .object({
    moves: z.number().describe('Jobs that can move.'),
    there: z.number().describe('Jobs that go by it already.'),
    stays: z.number().describe('Jobs that cannot move.'),
    more: z.boolean().describe('true: further jobs match.'),
    jobs: z.array(
      z.object({
        id: z.string(),
        flow: z.string(),
        can: z.enum(['moves', 'there', 'stays']),
        from: pointSchema.describe('What it goes by now.'),
        to: pointSchema.optional().describe('What it would go by.'),
        because: z.string().optional().describe('Why it does not move, and what to do.'),
        effects: z
          .array(z.string())
          .optional()
          .describe('Where it can move: what ends or begins at once, in sentences.'),
      }),
    ),
  })
  .meta({ id: 'Migrations' });

export const migratedSchema = requestedSchema
  .extend({
    outcome: z
      .enum(['applied', 'stored', 'there'])
      .describe('stored: an engine will move it; there: it goes by that definition already.'),
    because: z.string().optional().describe('there: in a sentence.'),
  })
  .meta({ id: 'Migrated' });

export const bulkMigratedSchema = z
  .object({
    applied: z.number(),
    stored: z.number(),
    there: z.number().describe('Jobs that go by it already; nothing was asked of them.'),
    refused: z.number(),
    more: z.boolean().describe('true: further jobs match; repeat the request for them.'),
    results: z.array(
      z.object({
        id: z.string(),
        outcome: z.enum(['applied', 'stored', 'there', 'refused']),
        problem: problemSchema.optional(),
      }),
    ),
  })
  .meta({ id: 'BulkMigrated' });
