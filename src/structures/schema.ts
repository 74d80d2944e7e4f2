import { z } from 'zod';
import { flagSchema, nameOf } from '../model/scalars.js';
import { depthBreaks } from './depth.js';
import type { Fields, Kind, NodeSchemas, RuleBreak, WrittenNode } from './kind.js';

import { entryKeys, nodeKinds, structureKinds } from './kinds.js';
import { clausesSchema } from './catch.js';
import { common, entryFormsWith, ofOneKind } from './entries.js';
import { alone, notOfEntries, ofStructures, within } from './node-keys.js';

/** The key `structure` may be left out: the key of the kind says it. */
const structureWord = (kind: string) =>
  z.exactOptional(z.literal(kind, { error: `must be "${kind}", as the key beside it` }));

export const writtenNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union(
    [nameOf('task'), ...entries, ...structures, z.array(writtenNodeSchema)] as unknown as readonly [
      z.ZodType<WrittenNode>,
    ],
    { error: nodeText },
  ),
);

/** A node of a graph: a node with `after`. */
const writtenGraphNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union(
    [
      nameOf('task'),
      ...entriesInGraph,
      ...structuresInGraph,
      z.array(writtenNodeSchema),
    ] as unknown as readonly [z.ZodType<WrittenNode>],
    { error: nodeText },
  ),
);

const schemas: NodeSchemas = {
  node: writtenNodeSchema,
  nodes: z.lazy(() => z.array(writtenNodeSchema, { error: 'must be a list of steps' })),
  graphNode: writtenGraphNodeSchema,
  clauses: z.lazy(() => clausesSchema(writtenNodeSchema)),
};

/** What catches the failure of a node may stand beside it, whatever its kind. */
const catching = { catch: z.exactOptional(schemas.clauses) };

/** The form of each kind of entry, before the rules that a form cannot tell. */
export const entryForms = entryFormsWith(catching);

/** The form of a structure. Parts of it come first that the kind itself may say otherwise. */
function formOf(word: string, { written }: Kind) {
  return z.looseObject({
    ...alone(word),
    ...notOfEntries(word),
    ...ofStructures,
    ...common,
    ...catching,
    structure: structureWord(word),
    ...within(word, written.inside ?? []),
    ...written.shape(schemas),
  });
}

/** Lets a rule speak as part of a schema: its sentences begin with "must", as all others do. */
const kept =
  (rule: (fields: Fields) => readonly RuleBreak[] = () => []) =>
  (fields: Fields, context: z.RefinementCtx): void => {
    for (const one of rule(fields)) context.addIssue(issueOf(one));
  };

/** The sentence of a broken rule tells everything; most values would add nothing. */
function issueOf({ keys, message, isComplete = true }: RuleBreak): z.core.$ZodSuperRefineIssue {
  return { code: 'custom', path: [...keys], message, params: { isComplete } };
}

const kinds = Object.entries(structureKinds);

const structures = kinds.map(([word, kind]) =>
  formOf(word, kind).superRefine(kept(kind.written.breaks)),
);

const entries = entryKeys.map((word) => ofOneKind(word, entryForms[word]));

const nodeText = `must be a task name, an entry {task, …}, {wait}, {approve}, {delay}, {flow}, {decider}, {finish} or a structure (${kinds.map(([word]) => word).join(', ')})`;

const joinText = 'must be "all", "any", "done", "none_failed" or a number of nodes (1 or more)';
const joinSchema = z
  .union(
    [
      z.enum(['all', 'any', 'done', 'none_failed'], { error: joinText }),
      z.int({ error: joinText }).min(1, { error: joinText }),
    ],
    { error: joinText },
  )
  .describe('How many of the nodes in "after" must have succeeded; done: all ended.');

/** What a node says of its place in a graph. */
const following = {
  after: z.exactOptional(
    z
      .array(z.string({ error: 'must be the name of a node of this graph' }), {
        error: 'must be a list of names of nodes of this graph',
      })
      .describe('Nodes of this graph that must have ended first.'),
  ),
  join: z.exactOptional(joinSchema),
  cancel_rest: z.exactOptional(flagSchema.describe('Cancels what is left of "after".')),
};

/** What a structure reads by itself, as a parallel its `join`, stays its own in a graph. */
function followingOf({ written: { beside = [] } }: Kind): z.ZodRawShape {
  const keys = Object.entries(following).filter(([key]) => !beside.includes(key));
  return Object.fromEntries(keys);
}

const entriesInGraph = entryKeys.map((word) => ofOneKind(word, entryForms[word].extend(following)));

const structuresInGraph = kinds.map(([word, kind]) =>
  formOf(word, kind).extend(followingOf(kind)).superRefine(kept(kind.written.breaks)),
);

/**
 * Returns the schema for a whole tree: the same, with a limit on the depth of nested structures.
 */
export function shallow(schema: z.ZodType<WrittenNode>): z.ZodType<WrittenNode> {
  return schema.superRefine((tree, context) => {
    // What is no tree has no depth.
    if (context.issues.length > 0) return;
    for (const one of depthBreaks(tree)) context.addIssue(issueOf(one));
  });
}

/** The whole `tasks` of a flow: a list, or a structure. */
export const tasksSchema: z.ZodType<WrittenNode> = shallow(
  z.union(
    [z.array(writtenNodeSchema), ...structures] as unknown as readonly [z.ZodType<WrittenNode>],
    { error: 'must be a list of steps or a structure such as {"sequence": […]}' },
  ),
).describe('The steps: a list of task names or entries, or a structure.');

/** The names under which JSON Schemas hold the schemas of nodes, each once. */
export const schemaNames: ReadonlyMap<z.core.$ZodType, string> = new Map<z.core.$ZodType, string>([
  [tasksSchema, 'Tasks'],
  [writtenNodeSchema, 'Node'],
  [writtenGraphNodeSchema, 'GraphNode'],
  [schemas.nodes, 'Nodes'],
  [schemas.clauses, 'Clauses'],
  ...named([...entries, ...structures], ''),
  ...named([...entriesInGraph, ...structuresInGraph], 'InGraph'),
]);

function named(schemas: readonly z.core.$ZodType[], end: string) {
  return schemas.map((schema, i): [z.core.$ZodType, string] => {
    const word = String(nodeKinds[i]);
    return [schema, `${word.charAt(0).toUpperCase()}${word.slice(1)}${end}`];
  });
}
