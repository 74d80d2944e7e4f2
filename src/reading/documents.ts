import { z } from 'zod';
import { flowFields } from '../model/flow.js';
import { liveJobFields, newJobFields } from '../model/job.js';
import { nameOf, paramsSchema, textSchema } from '../model/scalars.js';
import { nodeKinds } from '../structures/kinds.js';
import { keysAsWritten } from '../structures/depth.js';
import { shallow, tasksSchema, writtenNodeSchema } from '../structures/schema.js';
import { toTree } from '../structures/to-tree.js';
import { leavesOf } from '../structures/tree.js';

/** The documents that hold structures. */

/** A node has a key of its kind; without one an object names a task and its parameters. */
const noNode = Object.fromEntries(
  [...nodeKinds, 'structure'].map((key) => [key, z.exactOptional(z.never())]),
);

const handlerSchema = z
  .union(
    [
      nameOf('task'),
      z.looseObject({ ...noNode, name: nameOf('task'), params: z.exactOptional(paramsSchema) }),
      shallow(writtenNodeSchema),
    ],
    {
      error: 'must be a task name, {name, params}, an entry or a structure',
    },
  )
  .describe(
    'What runs when the flow failed: a task name, {name, params}, an entry or a structure.',
  );

/** A cancel comes before `finish`: in what follows it, `finish` would end nothing. */
const cancelSchema = shallow(writtenNodeSchema)
  .superRefine((written, context) => {
    if (context.issues.length > 0) return;
    for (const { entry, keys } of leavesOf(toTree(written))) {
      if (entry.finish === undefined) continue;
      const message = 'must not finish the flow: a job that was cancelled ends with exit 130';
      const path = [...keysAsWritten(written, keys)];
      context.addIssue({ code: 'custom', path, message, params: { isComplete: true } });
    }
  })
  .describe('Task, entry or structure that runs after a cancel.');

/** A flow document as users write it. */
export const flowSchema = z
  .looseObject({
    ...flowFields,
    tasks: tasksSchema,
    error: z.exactOptional(handlerSchema),
    cancel: z.exactOptional(cancelSchema),
  })
  .describe('A flow: which tasks run, in which structure, with which parameters.');

export type WrittenFlow = z.infer<typeof flowSchema>;

const sliceText = 'must be left out of a new job: a map that is split into slices writes it';
const flowOrTasks = 'must name a flow, or the job must carry "tasks"';

/** The fields of a job as it is submitted. */
export const writtenJobFields = { ...newJobFields, tasks: z.exactOptional(tasksSchema) };

/** A job as it is submitted: no `state` yet. */
export const newJobSchema = newJobSchemaOf(writtenJobFields);

/** A job that may have these of the fields. */
export function newJobSchemaOf(fields: typeof writtenJobFields) {
  return z
    .looseObject(fields)
    .refine((job) => job.flow !== undefined || job.tasks !== undefined, {
      error: flowOrTasks,
      path: ['flow'],
    })
    .refine((job) => !('slice' in job), { error: sliceText, path: ['slice'] })
    .describe('A job: one run of a flow.');
}

/** The snapshot of a flow; a job with a structure of its own may have no name for it. */
const flowSettingsSchema = flowSchema
  .omit({ tasks: true, notify: true, retain: true, on: true })
  .extend({ name: textSchema });

const pastRunText = 'must not be later than "run"';

/** A job under way. */
export const liveJobSchema = z
  .looseObject({ ...liveJobFields, tasks: tasksSchema, flow_definition: flowSettingsSchema })
  .refine(({ run, first_run: first = 1 }) => first <= run, {
    error: pastRunText,
    path: ['first_run'],
  });
