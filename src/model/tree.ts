import { z } from 'zod';
import { retrySchema, type RetryInput } from './retry.js';
import { durationSchema, flagSchema, nameSchema, paramsSchema, textSchema } from './scalars.js';

/**
 * The structure of a flow. Every node has a `path` from the root (`0`, `2.sequence.1`); the state
 * of a node is never stored: it is computed from the steps that carry its path.
 */

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
  .describe('JSONata conditions; the step is skipped unless all are true.');

/** A key that would make two kinds of node of one. */
const notBeside = (beside: string) =>
  z.exactOptional(z.never({ error: `must not stand beside "${beside}" in one node` }));

/** One entry that names a task. */
export const entrySchema = z.looseObject({
  task: nameSchema.describe('Name of the task document.'),
  name: z.exactOptional(nameSchema.describe('Name of this step; default: the task name.')),
  params: z.exactOptional(paramsSchema),
  stdio: z.exactOptional(stdioSchema),
  when: z.exactOptional(conditionSchema.describe('JSONata condition: false skips the step.')),
  guards: z.exactOptional(guardsSchema),
  retry: z.exactOptional(retrySchema),
  timeout: z.exactOptional(durationSchema),
  heartbeat: z.exactOptional(durationSchema),
  error: z.exactOptional(nameSchema.describe('Task that handles a failure of this step.')),
  optional: z.exactOptional(flagSchema.describe('A failure does not fail the flow.')),
  structure: notBeside('task'),
  sequence: notBeside('task'),
});

export type Entry = {
  readonly task: string;
  readonly name?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly stdio?: Readonly<Record<string, string>>;
  readonly when?: string;
  readonly guards?: string | readonly string[];
  readonly retry?: RetryInput;
  readonly timeout?: number;
  readonly heartbeat?: number;
  readonly error?: string;
  readonly optional?: boolean;
};

export type Sequence = { readonly structure: 'sequence'; readonly sequence: readonly Node[] };
export type Structure = Sequence;
export type Node = Entry | Structure;

/** How users may write a node: a task name, an entry, a list (a sequence) or a structure. */
export type WrittenNode =
  string | Entry | WrittenNode[] | { structure?: string; sequence: WrittenNode[] };

const nodeText = 'must be a task name, an entry {task, …} or a structure {sequence: […]}';

export const writtenSequenceSchema: z.ZodType<{ structure?: string; sequence: WrittenNode[] }> =
  z.looseObject({
    structure: z.exactOptional(
      z.literal('sequence', { error: 'must be a known structure: "sequence"' }),
    ),
    sequence: z.lazy(() => z.array(writtenNodeSchema, { error: 'must be a list of steps' })),
    task: notBeside('sequence'),
  });

export const writtenNodeSchema: z.ZodType<WrittenNode> = z.lazy(() =>
  z.union([nameSchema, entrySchema, writtenSequenceSchema, z.array(writtenNodeSchema)], {
    error: nodeText,
  }),
);

/** The whole `tasks` of a flow: a list, or a structure. */
export const tasksSchema = z
  .union([z.array(writtenNodeSchema), writtenSequenceSchema], {
    error: 'must be a list of steps or a structure {"structure": "sequence", "sequence": […]}',
  })
  .describe('The steps: a list of task names or entries, or a structure.');

/** Brings any written form to the one stored form. Idempotent. */
export function toTree(written: WrittenNode): Structure {
  const node = toNode(written);
  return isStructure(node) ? node : { structure: 'sequence', sequence: [node] };
}

function toNode(written: WrittenNode): Node {
  if (typeof written === 'string') return { task: written };
  if (Array.isArray(written)) return { structure: 'sequence', sequence: written.map(toNode) };
  if ('sequence' in written) {
    return { ...written, structure: 'sequence', sequence: written.sequence.map(toNode) };
  }
  return written;
}

export function isStructure(node: Node): node is Structure {
  return 'structure' in node;
}

/** A task entry at its place: `index` counts entries from the top of the definition, from 0. */
export type Leaf = {
  readonly path: string;
  readonly index: number;
  readonly name: string;
  readonly label: string;
  readonly entry: Entry;
};

/** All entries of a tree, top to bottom. `prefix` is put before every path (`cancel`). */
export function leavesOf(tree: Structure, prefix = ''): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: Node, path: string): void => {
    if (isStructure(node)) {
      node.sequence.forEach((child, i) => visit(child, childPath(path, node, i)));
      return;
    }
    const index = leaves.length;
    leaves.push({
      path,
      index,
      name: node.name ?? node.task,
      label: `${node.task}-${index}`,
      entry: node,
    });
  };
  visit(tree, prefix);
  return leaves;
}

/** Path of child `i`: the root sequence is left out (`0`), inner ones are named (`0.sequence.1`). */
export function childPath(path: string, parent: Structure, i: number): string {
  return path === '' ? String(i) : `${path}.${parent.structure}.${i}`;
}
