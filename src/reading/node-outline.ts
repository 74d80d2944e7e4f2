import type { StoredDocument } from '../model/document.js';
import { isFinal, isNew, type Job, type LiveJob } from '../model/job.js';
import { isStructure, isWithin, type ChildNode, type Node, type Structure } from '../model/tree.js';
import type { NodeState } from '../structures/node-state.js';
import { kindOf } from '../structures/kinds.js';
import { readTree } from './node-states.js';
import { parseDocument } from './parse.js';
import { ResultCollector } from './results.js';

/** A node of a job with its state, and the nodes in it in the order of the definition. */
export type NodeOutline = {
  readonly path: string;
  readonly node: Node;
  /** The word under which it is in the node above: `batch`, `on_complete`. */
  readonly key: string;
  readonly state: NodeState;
  readonly children: readonly NodeOutline[];
};

/** The nodes of a job with their states; undefined: it is no job, or never began and has ended. */
export function nodeOutline(doc: StoredDocument): NodeOutline | undefined {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job' || !parsed.ok) return undefined;
  const tree = treeOf(parsed.value);
  if (tree === undefined) return undefined;
  const states = hasBegun(parsed.value) ? readTree(tree, parsed.value).nodes : undefined;
  const none: NodeState = isFinal(parsed.value) ? 'unreached' : 'pending';
  const state = (path: string): NodeState => states?.get(path)?.state ?? none;
  const outline = ({ node, path, keys }: ChildNode): NodeOutline => ({
    ...{ path, node, key: String(keys[0] ?? ''), state: state(path) },
    children: isStructure(node) ? kindOf(node).children(node, path).map(outline) : [],
  });
  return outline({ node: tree, path: '', keys: [] });
}

function hasBegun(job: Job): job is LiveJob {
  return !isNew(job) && 'steps' in job && 'definitions' in job;
}

function treeOf(job: Job): Structure | undefined {
  const { tasks } = job as { readonly tasks?: unknown };
  return typeof tasks === 'object' && tasks !== null && 'structure' in tasks
    ? (tasks as Structure)
    : undefined;
}

/**
 * The results of what is right before a step, as a list: in a sequence of what is before it there, in a
 * callback of a batch of all nodes of the batch, good or bad. What has no result is null. Of a step that is
 * deeper, first what is before the structure around it.
 */
export function upstreamOf(job: LiveJob, target: string): readonly unknown[] {
  const collector = new ResultCollector(job, new Map());
  let list: unknown[] = [];
  let node: Node = job.tasks;
  let path = '';
  while (isStructure(node)) {
    const children: readonly ChildNode[] = kindOf(node).children(node, path);
    const place = children.findIndex((child) => isWithin(target, child.path));
    const next = children[place];
    if (next === undefined) return list;
    const before = children.slice(0, place);
    if (node.structure === 'sequence') {
      list.push(...before.map((one) => collector.valueOf(one.node, one.path) ?? null));
    } else if (node.structure === 'batch' && next.keys[0] !== 'batch') {
      const jobs = before.filter(({ keys }) => keys[0] === 'batch');
      list = jobs.map((one) => collector.endOf(one.node, one.path) ?? null);
    } else if (node.structure === 'graph') {
      const { after = [] } = next.node as { readonly after?: readonly string[] };
      const needed = children.filter(({ keys }) => after.includes(String(keys.at(-1))));
      list.push(...needed.map((one) => collector.valueOf(one.node, one.path) ?? null));
    }
    ({ node, path } = next);
  }
  return list;
}
