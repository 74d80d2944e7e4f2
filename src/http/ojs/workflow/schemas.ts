import { z } from 'zod';
import { optionsSchema, orderSchema } from '../schemas.js';

/** Workflows as they are sent and answered (workflows, sections 3 to 6; HTTP binding, section 14). */

/** A step is a job, or a workflow in it: what has `steps` or `jobs` is one. */
export type WorkflowNode = {
  readonly type?: string | undefined;
  readonly name?: string | null | undefined;
  readonly steps?: readonly WorkflowNode[] | undefined;
  readonly jobs?: readonly WorkflowNode[] | undefined;
  readonly callbacks?: Callbacks | null | undefined;
  readonly options?: unknown;
  readonly [key: string]: unknown;
};
export const callbackNames = ['on_complete', 'on_success', 'on_failure'] as const;
type Callbacks = { readonly [K in (typeof callbackNames)[number]]?: WorkflowNode | undefined };

const listText = 'must be a list with at least one step';

const nodeSchema: z.ZodType<WorkflowNode> = z.lazy(() =>
  z.union([z.looseObject({ type: z.string().optional(), ...nested }), z.looseObject({})]),
);

const nodesSchema = z.array(nodeSchema, { error: listText }).min(1, { error: listText });
const nested = {
  name: z.string().max(1_000).nullish(),
  steps: nodesSchema.optional(),
  jobs: nodesSchema.optional(),
  callbacks: z
    .looseObject({
      on_complete: nodeSchema.optional(),
      on_success: nodeSchema.optional(),
      on_failure: nodeSchema.optional(),
    })
    .nullish(),
};

export const workflowSchema = z
  .looseObject({
    type: z
      .enum(['chain', 'group', 'batch'])
      .optional()
      .describe('Left out: a graph, of which each step says what it depends on.'),
    ...nested,
    options: optionsSchema.nullish().describe('For all steps that do not say it themselves.'),
  })
  .meta({ id: 'OjsWorkflowOrder' });
export type WorkflowOrder = z.infer<typeof workflowSchema>;

/** A step that is a job. */
export const workflowStepSchema = orderSchema.extend({
  id: z.string().max(200).nullish(),
  args: z.array(z.unknown(), { error: 'must be a list' }).default([]),
  depends_on: z.array(z.string()).max(1_000).nullish(),
});
export type WorkflowStep = z.infer<typeof workflowStepSchema>;

const text = z.string();
const partSchema = z.looseObject({
  index: z.number(),
  type: text,
  state: text,
  job_id: text.nullable(),
});

const workflowAnswer = z
  .looseObject({
    id: text,
    type: text,
    name: text.optional(),
    state: z.enum(['running', 'completed', 'failed', 'cancelled']),
    steps: z.array(partSchema).optional(),
    jobs: z.array(partSchema).optional(),
    steps_total: z.number().optional(),
    steps_completed: z.number().optional(),
    jobs_total: z.number().optional(),
    jobs_completed: z.number().optional(),
    created_at: text.optional(),
    metadata: z.looseObject({
      created_at: text.optional(),
      started_at: text.optional(),
      completed_at: text.optional(),
      job_count: z.number(),
      completed_count: z.number(),
      failed_count: z.number(),
    }),
  })
  .meta({ id: 'OjsWorkflow' });
export type WorkflowAnswer = z.infer<typeof workflowAnswer>;

/** The SDKs read the body itself, others what is in `workflow`: it is both. */
export const workflowAnswerSchema = workflowAnswer
  .extend({ workflow: workflowAnswer })
  .meta({ id: 'OjsWorkflowAnswer' });
