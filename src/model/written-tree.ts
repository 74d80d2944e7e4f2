import { z } from 'zod';
import { retrySchema } from './retry.js';
import { durationSchema, flagSchema, nameSchema, paramsSchema, textSchema } from './scalars.js';
import type { Entry, GraphNode, Node, Structure } from './tree.js';
import {
  batchBreaks,
  choiceBreaks,
  depthBreaks,
  graphBreaks,
  joinBreaks,
  type RuleBreak,
} from './tree-rules.js';

/** How users write the structure of a flow, and how it comes to the one form of the inside. */

const stdioSchema = z
  .record(z.string(), textSchema, {
    error: 'must be an object {"key of the result before": "path in params"}',
  })
  .describe('Key of the previous result (first step: of the job params) -> path in params.');

const conditionSchema = z.string({ error: 'must be a JSONata condition (a string)' });

const guardsSchema = z
  .union([conditionSchema, z.array(conditionSchema)], {
    error: 'must be a condition or a list of conditions',
  })
  .describe('JSONata conditions; the node is skipped unless all are true.');

/** The keys of which each node has one: it tells what kind of node it is. */
const kinds = [
  'task',
  'wait',
  'delay',
  'flow',
  'decider',
  'sequence',
  'parallel',
  'batch',
  'graph',
  'choice',
  'map',
  'loop',
] as const;
type Kind = (typeof kinds)[number];

/** A key that would make two kinds of node of one. */
const notBeside = (beside: Kind) =>
  z.exactOptional(z.never({ error: `must not stand beside "${beside}" in one node` }));

/** No key of another kind may stand in a node of this kind, but for those in `except`. */
function alone<E extends Kind | 'structure' = never>(kind: Kind, ...except: readonly E[]) {
  const others = [...kinds, 'structure' as const].filter(
    (key) => key !== kind && !(except as readonly string[]).includes(key),
  );
  return Object.fromEntries(others.map((key) => [key, notBeside(kind)])) as Record<
    Exclude<Kind | 'structure', E>,
    ReturnType<typeof notBeside>
  >;
}

const common = {
  name: z.exactOptional(nameSchema.describe('Name of this node; default: the task name.')),
  when: z.exactOptional(conditionSchema.describe('JSONata condition: false skips the node.')),
  guards: z.exactOptional(guardsSchema),
  optional: z.exactOptional(flagSchema.describe('A failure does not fail the flow.')),
};

const step = {
  ...common,
  params: z.exactOptional(paramsSchema),
  stdio: z.exactOptional(stdioSchema),
  retry: z.exactOptional(retrySchema),
  timeout: z.exactOptional(durationSchema),
  heartbeat: z.exactOptional(durationSchema),
  error: z.exactOptional(nameSchema.describe('Task that handles a failure of this step.')),
  undo: z.exactOptional(nameSchema.describe('Task that undoes this step when the flow fails.')),
};

/** One entry that names a task. */
export const entrySchema = z.looseObject({
  ...alone('task'),
  ...step,
  task: nameSchema.describe('Name of the task document.'),
});

const waitText = 'must be {"signal": name} or {"event": type, "key": text}';
const waitSchema = z
  .looseObject(
    {
      signal: z.exactOptional(nameSchema.describe('Name of the signal to wait for.')),
      event: z.exactOptional(nameSchema.describe('Type of the event to wait for.')),
      key: z.exactOptional(textSchema.describe('Key of the event; templates are filled in.')),
      timeout: z.exactOptional(durationSchema.describe('Milliseconds; 0 = no limit.')),
    },
    { error: waitText },
  )
  .refine(({ signal, event }) => (signal === undefined) !== (event === undefined), {
    error: waitText,
  });

const waitEntrySchema = z.looseObject({
  ...alone('wait', 'task'),
  ...step,
  wait: waitSchema.describe('Waits for a signal or an event.'),
  task: z.exactOptional(z.literal('wait')),
});

const delayEntrySchema = z.looseObject({
  ...alone('delay', 'task'),
  ...step,
  delay: z
    .union([durationSchema, z.string().min(1)], {
      error: 'must be milliseconds, or a time (ISO 8601 with a zone, or a template)',
    })
    .describe('Milliseconds, or the time until which it waits.'),
  task: z.exactOptional(z.literal('delay')),
});

const flowEntrySchema = z.looseObject({
  ...alone('flow', 'task'),
  ...step,
  flow: nameSchema.describe('Flow that runs as a job of its own; this one waits for it.'),
  task: z.exactOptional(nameSchema),
});

const deciderEntrySchema = z.looseObject({
  ...alone('decider', 'task'),
  ...step,
  decider: nameSchema.describe('Plugin that reads the history and answers with decisions.'),
  task: z.exactOptional(nameSchema),
});

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

const graphJoinText = 'must be "all", "any", "done", "none_failed" or a number of nodes';
const graphJoinSchema = z
  .union([z.enum(['all', 'any', 'done', 'none_failed'], { error: graphJoinText }), countSchema], {
    error: graphJoinText,
  })
  .describe('How many of the nodes in "after" must have succeeded; done: all ended.');

const nodesSchema = z.lazy(() => z.array(writtenNodeSchema, { error: 'must be a list of steps' }));
const inner = z.lazy(() => writtenNodeSchema);

/** The key `structure` may be left out: the key of the kind says it. */
const structureWord = (kind: Kind) =>
  z.exactOptional(z.literal(kind, { error: `must be "${kind}", as the key beside it` }));

const structureSchema = <K extends Exclude<Kind, 'task'>, S extends z.ZodRawShape>(
  kind: K,
  shape: S,
) => z.looseObject({ ...alone(kind), ...common, structure: structureWord(kind), ...shape });

/** Lets a rule speak as part of a schema: its sentences begin with "must", as all others do. */
const kept =
  (rule: (fields: Record<string, unknown>) => readonly RuleBreak[]) =>
  (fields: Record<string, unknown>, context: z.RefinementCtx): void => {
    for (const { keys, message } of rule(fields)) {
      context.addIssue({ code: 'custom', path: [...keys], message });
    }
  };

const sequenceSchema = structureSchema('sequence', { sequence: nodesSchema });
const parallelSchema = structureSchema('parallel', {
  parallel: nodesSchema.describe('Nodes that run beside each other.'),
  join: z.exactOptional(joinSchema),
  on_fail: z.exactOptional(onFailSchema),
  cancel_rest: z.exactOptional(flagSchema),
}).superRefine(kept(joinBreaks));
const batchSchema = structureSchema('batch', {
  batch: nodesSchema.describe('Nodes that run beside each other, with callbacks after all.'),
  on_fail: z.exactOptional(onFailSchema),
  on_success: z.exactOptional(inner),
  on_failure: z.exactOptional(inner),
  on_complete: z.exactOptional(inner),
}).superRefine(kept(batchBreaks));
const graphKeyText = 'must be a name without "." that is neither "error" nor "undo"';
const graphSchema = structureSchema('graph', {
  graph: z
    .record(
      z.string().regex(/^(?!(error|undo|__proto__)$)[^.]+$/, { error: graphKeyText }),
      z.lazy(() => writtenGraphNodeSchema),
      { error: 'must be an object {name: node with "after"}' },
    )
    .describe('Nodes by name; each begins when those in its "after" have ended.'),
  on_fail: z.exactOptional(onFailSchema),
}).superRefine(kept(graphBreaks));
const choiceSchema = structureSchema('choice', {
  choice: z.array(
    z.looseObject(
      { when: conditionSchema, then: inner },
      { error: 'must be {when: condition, then: node}' },
    ),
    { error: 'must be a list of {when, then}' },
  ),
  default: z.exactOptional(inner),
}).superRefine(kept(choiceBreaks));
const tolerateText = 'must be a number of items, or a share such as "10%"';
const mapSchema = structureSchema('map', {
  map: z.looseObject(
    {
      over: z.union([conditionSchema, z.array(z.unknown())], {
        error: 'must be a JSONata expression (a string) or a list',
      }),
      as: z.exactOptional(nameSchema.describe('Name of the item in templates; default: item.')),
      limit: z.exactOptional(
        z.int({ error: 'must be a number of items (0 = all)' }).min(0, {
          error: 'must be a number of items (0 = all)',
        }),
      ),
      tolerate: z.exactOptional(
        z.union([z.int().min(0, { error: tolerateText }), z.string().regex(/^(100|\d{1,2})%$/)], {
          error: tolerateText,
        }),
      ),
      on_fail: z.exactOptional(onFailSchema),
      do: inner,
    },
    { error: 'must be {over, do, as, limit, tolerate}' },
  ),
});
const maxText = 'must be the most rounds the loop may take (1 to 10000)';
const loopSchema = structureSchema('loop', {
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
  parallelSchema,
  batchSchema,
  graphSchema,
  choiceSchema,
  mapSchema,
  loopSchema,
] as const;

const nodeText =
  'must be a task name, an entry {task, …}, {wait}, {delay}, {flow}, {decider} or a structure (sequence, parallel, batch, graph, choice, map, loop)';

export const writtenNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union(
    [
      nameSchema,
      entrySchema,
      waitEntrySchema,
      delayEntrySchema,
      flowEntrySchema,
      deciderEntrySchema,
      ...structures,
      z.array(writtenNodeSchema),
    ],
    { error: nodeText },
  ),
);

const after = {
  after: z.exactOptional(
    z
      .array(textSchema, { error: 'must be a list of names of nodes of this graph' })
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
      nameSchema,
      entrySchema.extend(following),
      waitEntrySchema.extend(following),
      delayEntrySchema.extend(following),
      flowEntrySchema.extend(following),
      deciderEntrySchema.extend(following),
      sequenceSchema.extend(following),
      parallelSchema.safeExtend(after),
      batchSchema.safeExtend(following),
      graphSchema.safeExtend(following),
      choiceSchema.safeExtend(following),
      mapSchema.extend(following),
      loopSchema.extend(following),
      z.array(writtenNodeSchema),
    ],
    { error: nodeText },
  ),
);

/** The whole `tasks` of a flow: a list, or a structure. */
export const tasksSchema: z.ZodType<WrittenNode> = z
  .union([z.array(writtenNodeSchema), ...structures], {
    error: 'must be a list of steps or a structure such as {"sequence": […]}',
  })
  .superRefine((tasks, context) => {
    for (const { keys, message } of depthBreaks(tasks)) {
      context.addIssue({ code: 'custom', path: [...keys], message });
    }
  })
  .describe('The steps: a list of task names or entries, or a structure.');

/** Brings any written form to the one stored form. Idempotent. */
export function toTree(written: WrittenNode): Structure {
  const node = toNode(written);
  return 'structure' in node ? node : { structure: 'sequence', sequence: [node] };
}

type Fields = Readonly<Record<string, unknown>>;

function toNode(written: WrittenNode): Node {
  if (typeof written === 'string') return { task: written };
  if (isList(written)) return { structure: 'sequence', sequence: written.map(toNode) };
  const kind = kinds.find((key) => key !== 'task' && key in written) ?? 'task';
  return kind in toStructure
    ? (toStructure[kind as keyof typeof toStructure](written) as unknown as Structure)
    : toEntry(written, kind);
}

function toEntry(written: Fields, kind: Kind): Entry {
  if (kind === 'wait' || kind === 'delay') return { ...written, task: kind };
  if (kind === 'flow' || kind === 'decider') {
    return { ...written, task: String(written['task'] ?? written[kind]) };
  }
  return written as unknown as Entry;
}

const toStructure = {
  sequence: (it: Fields) => ({ ...it, structure: 'sequence', sequence: each(it['sequence']) }),
  parallel: (it: Fields) => ({ ...it, structure: 'parallel', parallel: each(it['parallel']) }),
  batch: (it: Fields) => ({
    ...it,
    structure: 'batch',
    batch: each(it['batch']),
    ...only(it, 'on_success', 'on_failure', 'on_complete'),
  }),
  graph: (it: Fields) => ({
    ...it,
    structure: 'graph',
    graph: Object.fromEntries(
      Object.entries(it['graph'] as Record<string, WrittenNode>).map(([name, node]) => [
        name,
        toNode(node) as GraphNode,
      ]),
    ),
  }),
  choice: (it: Fields) => ({
    ...it,
    structure: 'choice',
    choice: (it['choice'] as Fields[]).map((one) => ({
      ...one,
      then: toNode(one['then'] as WrittenNode),
    })),
    ...only(it, 'default'),
  }),
  map: (it: Fields) => ({ ...it, structure: 'map', map: withDo(it['map'] as Fields) }),
  loop: (it: Fields) => ({ ...it, structure: 'loop', loop: withDo(it['loop'] as Fields) }),
} as const;

function each(nodes: unknown): readonly Node[] {
  return (nodes as WrittenNode[]).map(toNode);
}

function only(it: Fields, ...keys: readonly string[]): Record<string, Node> {
  const there = keys.filter((key) => it[key] !== undefined);
  return Object.fromEntries(there.map((key) => [key, toNode(it[key] as WrittenNode)]));
}

function withDo(it: Fields): Fields {
  return { ...it, do: toNode(it['do'] as WrittenNode) };
}

function isList(written: WrittenNode): written is readonly WrittenNode[] {
  return Array.isArray(written);
}
