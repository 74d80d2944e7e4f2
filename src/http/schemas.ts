import { z } from 'zod';
import type { DefinitionKind } from '../client.js';
import { flowSchema, newJobSchema } from '../reading/documents.js';
import { statusSchema, summarySchema, epochMsSchema } from '../model/summary.js';
import { formEvents } from '../model/occasions.js';
import { taskSchema } from '../model/task.js';
import { problemSchema } from './answers/problems.js';

/** What the routes take and answer, beside the documents themselves. */

const given = {
  _id: z.exactOptional(z.string().describe('Its id; absent: one is made.')),
};
/** What a document that is stored anew may say beside its content. */
export const storedKeys = {
  _id: z.exactOptional(z.string().describe('Its id; absent: one that tells what it is.')),
  _rev: z.exactOptional(z.string().describe('The revision that it replaces.')),
};

/** A job as it is sent: what it is goes without saying. */
export const jobBodySchema = newJobSchema
  .safeExtend({ ...given, type: z.exactOptional(z.literal('job')) })
  .describe('A job: one run of a flow.')
  .meta({ id: 'Job' });

const bodySchemas = {
  task: taskSchema
    .safeExtend({ ...storedKeys, type: z.exactOptional(z.literal('task')) })
    .describe('A task: what one step does, by which plugin, with which defaults.')
    .meta({ id: 'Task' }),
  flow: flowSchema
    .safeExtend({ ...storedKeys, type: z.exactOptional(z.literal('flow')) })
    .describe('A flow: which tasks run, in which structure, with which parameters.')
    .meta({ id: 'Flow' }),
} as const;

/** A task or flow as it is sent. */
export function definitionBodySchema(kind: DefinitionKind): z.ZodType {
  return bodySchemas[kind];
}

const anything = z.record(z.string(), z.unknown());

export const jobSchema = summarySchema
  .extend({ document: anything.describe('The job as it is stored, without secrets in clear.') })
  .meta({ id: 'StoredJob' });

export const jobListSchema = z
  .object({
    jobs: z.array(summarySchema),
    cursor: z
      .string()
      .optional()
      .describe(
        'Leads to the next page; absent on the last one. A page may be short and have one.',
      ),
  })
  .meta({ id: 'JobList' });

/** What an answer warns of, beside what was done. */
export const warningsSchema = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .describe('What is allowed and yet hardly meant.');

export const submittedSchema = z
  .object({
    id: z.string(),
    rev: z.string(),
    existed: z
      .boolean()
      .describe('true: nothing was stored; it was submitted before, or is "existing".'),
    existing: z
      .literal(true)
      .optional()
      .describe('It is another job with the same "unique" key; "existed" is true, too.'),
    replaces: z
      .string()
      .optional()
      .describe(
        'Id of the job with the same "unique" key that is cancelled before this one begins.',
      ),
    warnings: warningsSchema.optional(),
  })
  .meta({ id: 'Submitted' });

export const checkedSchema = z
  .object({
    ok: z.boolean(),
    problems: z.array(z.object({ path: z.string(), message: z.string() })),
    warnings: warningsSchema,
  })
  .meta({ id: 'Checked' });

export const bulkSchema = z
  .object({
    submitted: z.number(),
    existed: z.number(),
    refused: z.number(),
    results: z.array(
      z.object({
        index: z.number().describe('Its place in what was sent, from 0.'),
        status: z.number().describe('The HTTP status it would have had alone.'),
        id: z.string().optional(),
        rev: z.string().optional(),
        existing: z.literal(true).optional(),
        replaces: z.string().optional(),
        problem: problemSchema.optional(),
        warnings: warningsSchema.optional(),
      }),
    ),
  })
  .meta({ id: 'BulkReport' });

export const requestedSchema = z
  .object({
    outcome: z
      .enum(['applied', 'stored'])
      .describe('stored: no engine has taken it yet, one will when it runs.'),
    request: z.string().optional().describe('Id of the document that asks, while it is stored.'),
    job: summarySchema.optional().describe('The job as it is after that.'),
    notice: z
      .string()
      .optional()
      .describe(
        'What it does not change: a parent that failed with the job and has ended, or a map that keeps its list although its parameters were changed.',
      ),
  })
  .meta({ id: 'Requested' });

export const bulkRequestedSchema = z
  .object({
    applied: z.number(),
    stored: z.number(),
    refused: z.number(),
    more: z.boolean().describe('true: further jobs match; repeat the request for them.'),
    results: z.array(
      z.object({
        id: z.string(),
        outcome: z.enum(['applied', 'stored', 'refused']),
        problem: problemSchema.optional(),
      }),
    ),
  })
  .meta({ id: 'BulkRequested' });

export const historySchema = z
  .object({
    events: z.array(
      z.object({
        id: z.number(),
        at: epochMsSchema,
        level: z.enum(['service', 'decider', 'external', 'activity']),
        kind: z.string(),
        path: z.string().optional(),
        name: z.string().optional(),
        attempt: z.number().optional(),
        engine: z.string().optional(),
        data: z.unknown().optional(),
      }),
    ),
  })
  .meta({ id: 'History' });

/** What a step asks or asked of people. */
export const formFactsSchema = z
  .object({
    path: z.string().describe('Path of the step.'),
    step: z.string().describe('Its name.'),
    attempt: z.number(),
    state: z.string(),
    people: z.string().describe('Who may answer, in words.'),
    title: z.string().optional(),
    since: epochMsSchema.optional(),
    until: epochMsSchema.optional(),
    due: epochMsSchema.optional(),
    timers: z
      .array(
        z.object({
          event: z.enum(formEvents),
          at: epochMsSchema,
          told: epochMsSchema.optional().describe('When an engine took it up; absent: to come.'),
          messages: z.number().describe('Number of messages that were made then.'),
          to: z.string().optional().describe('Who may answer as well from then on, in words.'),
        }),
      )
      .describe('Reminders, when it is due, and the escalation; the oldest first.'),
    links: z.array(z.object({ for: z.string(), until: epochMsSchema })),
    answered: z
      .object({
        by: z.string().optional(),
        at: epochMsSchema,
        as: z.string().optional(),
        via: z.string().optional().describe('page, inbox, api, command or link.'),
        answer: z.unknown().describe('Without fields that are not shown.'),
      })
      .optional(),
  })
  .meta({ id: 'FormFacts' });

export const explainedSchema = z
  .object({
    jobs: z
      .array(
        z.object({
          id: z.string(),
          status: statusSchema,
          reasons: z.array(
            z.object({
              kind: z.string(),
              rule: z
                .string()
                .optional()
                .describe('The rule by which engines decide about the job as it stands.'),
              because: z.string(),
              todo: z.string().optional(),
              until: epochMsSchema.optional(),
              child: z.string().optional(),
              form: formFactsSchema.optional().describe('What it asks or asked of people.'),
            }),
          ),
        }),
      )
      .describe('The job, then the child job that it waits for, and so on.'),
    settled: z.boolean().describe('false: it is not certain yet which engines live; ask again.'),
  })
  .meta({ id: 'Explained' });

export const resultSchema = z
  .object({ result: z.unknown().describe('What the plugin returned, without secrets in clear.') })
  .meta({ id: 'Result' });

export const infoSchema = z
  .object({
    lines: z.array(
      z.object({
        at: epochMsSchema,
        from: z.enum(['step', 'note']),
        step: z.string().optional(),
        path: z.string().optional(),
        attempt: z.number().optional(),
        by: z.string().optional(),
        message: z.string(),
        data: z.unknown().optional(),
      }),
    ),
    progress: z
      .array(
        z.object({
          step: z.string(),
          path: z.string(),
          attempt: z.number(),
          progress: z.unknown(),
          reported: epochMsSchema.optional(),
        }),
      )
      .describe('How far the steps that run say they are.'),
  })
  .meta({ id: 'Info' });

export const definitionSchema = (kind: DefinitionKind) =>
  z
    .object({
      id: z.string(),
      rev: z.string(),
      name: z.string(),
      owner: z.string(),
      document: bodySchemas[kind],
    })
    .meta({ id: kind === 'task' ? 'StoredTask' : 'StoredFlow' });

export const putSchema = z
  .object({
    id: z.string(),
    rev: z.string(),
    created: z.boolean(),
    warnings: warningsSchema,
  })
  .meta({ id: 'Put' });

export const enabledSchema = z
  .object({ id: z.string(), enabled: z.boolean(), changed: z.boolean() })
  .meta({ id: 'Enabled' });
