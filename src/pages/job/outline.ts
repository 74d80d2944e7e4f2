import { isObject } from '../../model/object.js';
import type { NodeState } from '../../structures/node-state.js';
import { definedPath, pathParts } from '../../structures/paths.js';
import type { AnyDocument } from '../answers.js';
import { beganAt, type StoredAttempt } from './attempts.js';

/** One step with its attempts, the oldest first. */
export type OutlineStep = {
  readonly kind: 'step';
  readonly path: string;
  readonly name: string;
  readonly attempts: readonly StoredAttempt[];
  readonly state: NodeState;
};

/** An item of a map, a slice of it, or a round of a loop. */
export type OutlineItem = {
  readonly kind: 'item';
  readonly path: string;
  readonly number: number;
  /** `item 17`, `round 3`, `slice 2`. */
  readonly label: string;
  /** What the item is; undefined: it has no value of its own. */
  readonly value?: unknown;
  readonly children: readonly OutlineNode[];
  readonly state: NodeState;
};

/** A structure whose nodes run beside each other or again and again. */
export type OutlineGroup = {
  readonly kind: 'group';
  readonly path: string;
  readonly label: string;
  /** Its children are items. */
  readonly isRepeated: boolean;
  readonly children: readonly OutlineNode[];
  readonly state: NodeState;
};

export type OutlineNode = OutlineStep | OutlineItem | OutlineGroup;

/** The word of a structure for each word in paths. */
const groupWords = ['map', 'slice', 'loop', 'parallel', 'batch', 'graph'];
const itemWords: Readonly<Record<string, string>> = {
  map: 'item',
  slice: 'slice',
  loop: 'round',
};

/** What the picture and the reading of the job know. */
export type OutlineReading = {
  /** What structures are called, by their path in the definition. */
  readonly labels: ReadonlyMap<string, string>;
  /** The state of every run, by its path in the job. */
  readonly states: ReadonlyMap<string, NodeState>;
};

type Branch = {
  readonly kind: 'group' | 'item';
  readonly path: string;
  readonly word: string;
  readonly number: number;
  readonly inside: Map<string, Branch | StoredAttempt[]>;
};

/**
 * Returns the attempts of a job as a tree: structures with what is in them, items of maps and rounds
 * of loops by number. Plain sequences and choices are no level of their own.
 */
export function stepTree(
  attempts: readonly StoredAttempt[],
  job: AnyDocument,
  reading: OutlineReading,
): readonly OutlineNode[] {
  const root = branch('group', '', '', 0);
  for (const one of attempts) place(root, one);
  return nodesIn(root, { ...reading, lists: listsIn(job) });
}

function branch(kind: Branch['kind'], path: string, word: string, number: number): Branch {
  return { kind, path, word, number, inside: new Map() };
}

function place(root: Branch, one: StoredAttempt): void {
  let at = root;
  let path = '';
  for (const part of pathParts(one.path)) {
    const [word = '', number = ''] = part.split('.');
    if (groupWords.includes(word) && number !== '') at = into(at, branch('group', path, word, 0));
    path = path === '' ? part : `${path}.${part}`;
    if (word in itemWords) at = into(at, branch('item', path, word, Number(number)));
  }
  const own = at.inside.get(one.path);
  if (Array.isArray(own)) own.push(one);
  else at.inside.set(one.path, [one]);
}

function into({ inside }: Branch, made: Branch): Branch {
  const key = `${made.kind} ${made.path}`;
  const there = inside.get(key) ?? made;
  inside.set(key, there);
  return there as Branch;
}

type Known = OutlineReading & { readonly lists: ReadonlyMap<string, List> };

/** A document of which little can be read has states for none of its paths. */
const stateAt = ({ states }: Known, path: string): NodeState => states.get(path) ?? 'pending';

function nodesIn({ inside }: Branch, known: Known): readonly OutlineNode[] {
  return [...inside.values()].map((one) =>
    Array.isArray(one)
      ? stepNode(one, known)
      : one.kind === 'item'
        ? itemNode(one, known)
        : group(one, known),
  );
}

function stepNode(attempts: readonly StoredAttempt[], known: Known): OutlineStep {
  const [{ path, name }] = attempts as readonly [StoredAttempt];
  return { kind: 'step', path, name, attempts, state: stateAt(known, path) };
}

function itemNode(one: Branch, known: Known): OutlineItem {
  const children = nodesIn(one, known);
  const list = known.lists.get(mapOf(one.path));
  const label = `${itemWords[one.word] ?? one.word} ${one.number}`;
  const base = { kind: 'item', path: one.path, number: one.number, label, children } as const;
  const value = one.word === 'map' ? list?.items[one.number - list.from] : undefined;
  return { ...base, ...(value === undefined ? {} : { value }), state: stateAt(known, one.path) };
}

function group(one: Branch, known: Known): OutlineGroup {
  const { path, word } = one;
  const begun = nodesIn(one, known);
  const isRepeated = word in itemWords;
  const children = isRepeated ? withUnbegun(one, begun as readonly OutlineItem[], known) : begun;
  const label = known.labels.get(definedPath(path)) ?? word;
  return { kind: 'group', path, label, isRepeated, children, state: stateAt(known, path) };
}

/** Items that have not begun are there as well, so that each number can be found. */
function withUnbegun(
  { path, word }: Branch,
  begun: readonly OutlineItem[],
  known: Known,
): readonly OutlineItem[] {
  const list = word === 'map' ? known.lists.get(path) : undefined;
  const items = new Map(begun.map((item) => [item.number, item]));
  for (const [i, value] of list?.items.entries() ?? []) {
    const number = (list?.from ?? 0) + i;
    if (items.has(number)) continue;
    const at = path === '' ? `map.${number}` : `${path}.map.${number}`;
    const base = { kind: 'item', path: at, number, label: `item ${number}`, value } as const;
    items.set(number, { ...base, children: [], state: stateAt(known, at) });
  }
  return [...items.values()].toSorted((a, b) => a.number - b.number);
}

/** What a map goes over, as it is recorded; `from`: the number of the first item. */
type List = { readonly items: readonly unknown[]; readonly from: number };

function listsIn({ steps }: AnyDocument): ReadonlyMap<string, List> {
  const lists = new Map<string, List>();
  for (const step of Array.isArray(steps) ? (steps as readonly unknown[]) : []) {
    if (!isObject(step) || step['structure'] !== 'map' || !isObject(step['result'])) continue;
    const { items, from, slice } = step['result'];
    if (!Array.isArray(items) || typeof step['path'] !== 'string' || slice !== undefined) continue;
    lists.set(step['path'], { items, from: typeof from === 'number' ? from : 0 });
  }
  return lists;
}

const mapOf = (item: string): string => item.replace(/\.?map\.\d+$/, '');

/** When the first attempt in a node began, and when the last ended; `end` undefined: it goes on. */
export function stretchOf(node: OutlineNode): { readonly start?: number; readonly end?: number } {
  const all = attemptsInside(node);
  const starts = all.flatMap((one) => beganAt(one) ?? []);
  if (starts.length === 0) return {};
  const start = starts.reduce((a, b) => Math.min(a, b));
  if (all.some(({ open }) => open)) return { start };
  return { start, end: all.reduce((last, { end = 0 }) => Math.max(last, end), start) };
}

/** All attempts in a node. */
export function attemptsInside(node: OutlineNode): readonly StoredAttempt[] {
  return stepsInside(node).flatMap(({ attempts }) => attempts);
}

/** All steps in a node. */
export function stepsInside(node: OutlineNode): readonly OutlineStep[] {
  return node.kind === 'step' ? [node] : node.children.flatMap(stepsInside);
}

/** The path that stands for a node when it is chosen: of an item the step that failed, or the last. */
export function stepPathOf(node: OutlineNode): string {
  const steps = stepsInside(node);
  return (steps.find(({ state }) => state === 'failed') ?? steps.at(-1))?.path ?? node.path;
}
