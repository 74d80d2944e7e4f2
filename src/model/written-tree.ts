import { z } from 'zod';
import { widest } from './limits.js';
import { alone, notOfEntries, ofStructures, within, type Kind } from './node-keys.js';
import { flagSchema, nameOf, nameSchema } from './scalars.js';
import {
  batchBreaks,
  choiceBreaks,
  depthBreaks,
  graphBreaks,
  joinBreaks,
  mapNameBreaks,
  type RuleBreak,
} from './tree-rules.js';
import {
  common,
  conditionSchema,
  deciderForm,
  delayEntrySchema,
  entrySchema,
  flowForm,
  ownTask,
  waitEntrySchema,
} from './written-entry.js';

/** How users write the structure of a flow, and how it comes to the one form of the inside. */

/** How users may write a node: a task name, an entry, a list (a sequence) or a structure. */
export type WrittenNode = string | readonly WrittenNode[] | { readonly [key: string]: unknown };

const onFailSchema = z
  .enum(['wait', 'cancel_rest', 'ignore'], {
    error: 'must be "wait", "cancel_rest" or "ignore"',
  })
  .describe('What a failure does to the others: they go on, are cancelled, or it is ignored.');

const joinText = 'must be "all", "any" or a number of nodes (1 or more)';
const countSchema = z.int({ error: joinText }).min(1, { error: joinText });
const joinSchema = z
  .union([z.enum(['all', 'any'], { error: joinText }), countSchema], { error: joinText })
  .describe('How many must succeed.');

const graphJoinText =
  'must be "all", "any", "done", "none_failed" or a number of nodes (1 or more)';
const graphCountSchema = z.int({ error: graphJoinText }).min(1, { error: graphJoinText });
const graphJoinSchema = z
  .union(
    [z.enum(['all', 'any', 'done', 'none_failed'], { error: graphJoinText }), graphCountSchema],
    { error: graphJoinText },
  )
  .describe('How many of the nodes in "after" must have succeeded; done: all ended.');

const nodesSchema = z.lazy(() => z.array(writtenNodeSchema, { error: 'must be a list of steps' }));
const inner = z.lazy(() => writtenNodeSchema);

/** The key `structure` may be left out: the key of the kind says it. */
const structureWord = (kind: Kind) =>
  z.exactOptional(z.literal(kind, { error: `must be "${kind}", as the key beside it` }));

const structureSchema = <K extends Exclude<Kind, 'task'>, S extends z.ZodRawShape>(
  kind: K,
  shape: S,
) =>
  z.looseObject({
    ...alone(kind),
    ...notOfEntries(kind),
    ...ofStructures,
    ...common,
    structure: structureWord(kind),
    ...shape,
  });

/** Lets a rule speak as part of a schema: its sentences begin with "must", as all others do. */
const kept =
  (rule: (fields: Record<string, unknown>) => readonly RuleBreak[]) =>
  (fields: Record<string, unknown>, context: z.RefinementCtx): void => {
    for (const one of rule(fields)) context.addIssue(issueOf(one));
  };

/** What broke a rule is told by its sentence alone, not by a picture of the value. */
function issueOf({ keys, message, told = true }: RuleBreak): z.core.$ZodSuperRefineIssue {
  return { code: 'custom', path: [...keys], message, params: { told } };
}

const sequenceSchema = structureSchema('sequence', { sequence: nodesSchema });
const parallelForm = structureSchema('parallel', {
  parallel: nodesSchema.describe('Nodes that run beside each other.'),
  join: z.exactOptional(joinSchema),
  on_fail: z.exactOptional(onFailSchema),
  cancel_rest: z.exactOptional(flagSchema),
});
const batchForm = structureSchema('batch', {
  batch: nodesSchema.describe('Nodes that run beside each other, with callbacks after all.'),
  on_fail: z.exactOptional(onFailSchema),
  on_success: z.exactOptional(inner),
  on_failure: z.exactOptional(inner),
  on_complete: z.exactOptional(inner),
});
const graphKeyText = 'must have a name without "." that is neither "error" nor "undo"';
const graphForm = structureSchema('graph', {
  graph: z
    .record(
      z.string().regex(/^(?!(error|undo|__proto__)$)[^.]+$/, { error: graphKeyText }),
      z.lazy(() => writtenGraphNodeSchema),
      { error: 'must be an object {name: node with "after"}' },
    )
    .describe('Nodes by name; each begins when those in its "after" have ended.'),
  on_fail: z.exactOptional(onFailSchema),
});
const choiceForm = structureSchema('choice', {
  choice: z.array(
    z.looseObject(
      { when: conditionSchema, then: inner },
      { error: 'must be {when: condition, then: node}' },
    ),
    { error: 'must be a list of {when, then}' },
  ),
  default: z.exactOptional(inner),
});
const tolerateText = 'must be a number of items, or a share such as "10%"';
const sliceText = 'must be a number of items for each child job (a whole number, 1 or more)';
const limitText = 'must be a number of items at a time (0 = as many as may be)';
const mapForm = structureSchema('map', {
  ...within('map', 'over', 'do', 'as', 'limit', 'slice', 'tolerate', 'on_fail'),
  map: z.looseObject(
    {
      over: z.union([conditionSchema, z.array(z.unknown())], {
        error: 'must be a JSONata expression (a string) or a list',
      }),
      as: z.exactOptional(nameSchema.describe('Name of the item in templates; default: item.')),
      limit: z.exactOptional(
        z
          .int({ error: limitText })
          .min(0, { error: limitText })
          .describe(`So many items at a time; absent or 0, or more: ${widest}.`),
      ),
      slice: z.exactOptional(
        z
          .int({ error: sliceText })
          .min(1, { error: sliceText })
          .describe('A longer list is gone over by child jobs, so many items in each.'),
      ),
      tolerate: z.exactOptional(
        z.union(
          [
            z.int({ error: tolerateText }).min(0, { error: tolerateText }),
            z.string().regex(/^(100|\d{1,2})%$/, { error: tolerateText }),
          ],
          { error: tolerateText },
        ),
      ),
      on_fail: z.exactOptional(onFailSchema),
      do: inner,
    },
    { error: 'must be {over, do, as, limit, slice, tolerate}' },
  ),
});
const maxText = 'must be the most rounds the loop may take (1 to 10000)';
const loopSchema = structureSchema('loop', {
  ...within('loop', 'while', 'max', 'do'),
  loop: z.looseObject(
    {
      while: z.exactOptional(conditionSchema),
      max: z.int({ error: maxText }).min(1, { error: maxText }).max(10_000, { error: maxText }),
      do: inner,
    },
    { error: 'must be {while, max, do}' },
  ),
});

const structures = [
  sequenceSchema,
  parallelForm.superRefine(kept(joinBreaks)),
  batchForm.superRefine(kept(batchBreaks)),
  graphForm.superRefine(kept(graphBreaks)),
  choiceForm.superRefine(kept(choiceBreaks)),
  mapForm.superRefine(kept(mapNameBreaks)),
  loopSchema,
] as const;

const nodeText =
  'must be a task name, an entry {task, …}, {wait}, {delay}, {flow}, {decider} or a structure (sequence, parallel, batch, graph, choice, map, loop)';

export const writtenNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union(
    [
      nameOf('task'),
      entrySchema,
      waitEntrySchema,
      delayEntrySchema,
      flowForm.superRefine(ownTask('flow')),
      deciderForm.superRefine(ownTask('decider')),
      ...structures,
      z.array(writtenNodeSchema),
    ],
    { error: nodeText },
  ),
);

const after = {
  after: z.exactOptional(
    z
      .array(z.string({ error: 'must be the name of a node of this graph' }), {
        error: 'must be a list of names of nodes of this graph',
      })
      .describe('Nodes of this graph that must have ended first.'),
  ),
};
const following = {
  ...after,
  join: z.exactOptional(graphJoinSchema),
  cancel_rest: z.exactOptional(flagSchema.describe('Cancels what is left of "after".')),
};

/** A node of a graph: a node with `after`. A parallel's own `join` stays its own. */
const writtenGraphNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union(
    [
      nameOf('task'),
      entrySchema.extend(following),
      waitEntrySchema.extend(following),
      delayEntrySchema.extend(following),
      flowForm.extend(following).superRefine(ownTask('flow')),
      deciderForm.extend(following).superRefine(ownTask('decider')),
      sequenceSchema.extend(following),
      parallelForm.extend(after).superRefine(kept(joinBreaks)),
      batchForm.extend(following).superRefine(kept(batchBreaks)),
      graphForm.extend(following).superRefine(kept(graphBreaks)),
      choiceForm.extend(following).superRefine(kept(choiceBreaks)),
      mapForm.extend(following).superRefine(kept(mapNameBreaks)),
      loopSchema.extend(following),
      z.array(writtenNodeSchema),
    ],
    { error: nodeText },
  ),
);

/** The same schema for a whole tree: structures are not nested too deep in it. */
export function shallow(schema: z.ZodType<WrittenNode>): z.ZodType<WrittenNode> {
  return schema.superRefine((tree, context) => {
    for (const one of depthBreaks(tree)) context.addIssue(issueOf(one));
  });
}

/** The whole `tasks` of a flow: a list, or a structure. */
export const tasksSchema: z.ZodType<WrittenNode> = shallow(
  z.union([z.array(writtenNodeSchema), ...structures], {
    error: 'must be a list of steps or a structure such as {"sequence": […]}',
  }),
).describe('The steps: a list of task names or entries, or a structure.');
