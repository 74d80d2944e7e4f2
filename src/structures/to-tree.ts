import { without } from '../model/record.js';
import type { Entry, Node, Structure } from '../model/tree.js';
import type { Fields } from './kind.js';
import { entryKinds, nodeKinds, structureKinds, type EntryWord } from './kinds.js';
import type { WrittenNode } from './kind.js';

/** Converts any written form to the one stored form. Idempotent. */
export function toTree(written: WrittenNode): Structure {
  const node = toNode(written);
  return 'structure' in node ? node : sequenceOf([node]);
}

function toNode(written: unknown): Node {
  if (typeof written === 'string') return { task: written };
  if (Array.isArray(written)) return sequenceOf(written.map(toNode));
  const fields = written as Fields;
  if ('catch' in fields && !('try' in fields)) return toNode(tried(fields));
  const word = nodeKinds.find((key) => key !== 'task' && key in fields) ?? 'task';
  const kind = structureKinds[word];
  if (kind === undefined) return toEntry(fields, word as EntryWord);
  const structure = { ...fields, structure: word, ...kind.written.normalised(fields, toNode) };
  return structure;
}

/**
 * A node with `catch` beside it as the structure that tries it. What says how the node stands among
 * others, and that its failure does not matter, is then said of the whole.
 */
function tried({ catch: clauses, ...node }: Fields): Fields {
  const kind = Object.entries(structureKinds).find(([word]) => word in node)?.[1];
  const own = kind?.written.beside ?? [];
  const ofWhole = ['after', 'join', 'cancel_rest', 'optional', ...(kind ? ['name'] : [])];
  const moved = ofWhole.filter((key) => key in node && !own.includes(key));
  const whole = Object.fromEntries(moved.map((key) => [key, node[key]]));
  return { ...whole, try: without(node, ...moved), catch: clauses };
}

function sequenceOf(nodes: readonly Node[]): Structure {
  const sequence = { structure: 'sequence', sequence: nodes };
  return sequence;
}

function toEntry(written: Fields, word: EntryWord): Entry {
  const isWord = entryKinds[word].calledBy === 'word';
  return { ...written, task: isWord ? word : String(written['task'] ?? written[word]) };
}
