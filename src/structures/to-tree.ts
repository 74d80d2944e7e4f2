import type { Entry, Node, Structure } from '../model/tree.js';
import type { Fields } from './kind.js';
import { nodeKinds, structureKinds } from './kinds.js';
import type { WrittenNode } from './schema.js';

/** Converts any written form to the one stored form. Idempotent. */
export function toTree(written: WrittenNode): Structure {
  const node = toNode(written);
  return 'structure' in node ? node : sequenceOf([node]);
}

function toNode(written: unknown): Node {
  if (typeof written === 'string') return { task: written };
  if (Array.isArray(written)) return sequenceOf(written.map(toNode));
  const fields = written as Fields;
  const word = nodeKinds.find((key) => key !== 'task' && key in fields) ?? 'task';
  const kind = structureKinds[word];
  if (kind === undefined) return toEntry(fields, word);
  const structure = { ...fields, structure: word, ...kind.written.normalised(fields, toNode) };
  return structure;
}

function sequenceOf(nodes: readonly Node[]): Structure {
  const sequence = { structure: 'sequence', sequence: nodes };
  return sequence;
}

function toEntry(written: Fields, kind: string): Entry {
  if (kind === 'wait' || kind === 'delay') return { ...written, task: kind };
  if (kind === 'flow' || kind === 'decider') {
    return { ...written, task: String(written['task'] ?? written[kind]) };
  }
  return written as unknown as Entry;
}
