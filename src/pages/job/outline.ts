import { isObject } from '../../model/object.js';
import type { Status } from '../../model/status.js';
import { definedPath, pathParts } from '../../structures/paths.js';
import type { AnyDocument } from '../answers.js';
import { beganAt, type StoredAttempt } from './attempts.js';

/** One step with its attempts, the oldest first. */
export type OutlineStep = {
  readonly kind: 'step';
  readonly path: string;
  readonly name: string;
  readonly attempts: readonly StoredAttempt[];
  readonly tone: Status;
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
  readonly tone: Status;
};

/** A structure whose nodes run beside each other or again and again. */
export type OutlineGroup = {
  readonly kind: 'group';
  readonly path: string;
  readonly label: string;
  /** Its children are items. */
  readonly isRepeated: boolean;
  readonly children: readonly OutlineNode[];
  readonly tone: Status;
};

export type OutlineNode = OutlineStep | OutlineItem | OutlineGroup;

/** The word of a structure for each word in paths. */
const groupWords = ['map', 'slice', 'loop', 'parallel', 'batch', 'graph'];
const itemWords: Readonly<Record<string, string>> = {
  map: 'item',
  slice: 'slice',
  loop: 'round',
};

/** What structures are called, by their path in the definition. */
export type Labels = ReadonlyMap<string, string>;

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
  labels: Labels,
): readonly OutlineNode[] {
  const root = branch('group', '', '', 0);
  for (const one of attempts) place(root, one);
  return nodesIn(root, { lists: listsIn(job), labels });
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

type Known = { readonly lists: ReadonlyMap<string, List>; readonly labels: Labels };

function nodesIn({ inside }: Branch, known: Known): readonly OutlineNode[] {
  return [...inside.values()].map((one) =>
    Array.isArray(one)
      ? stepNode(one)
      : one.kind === 'item'
        ? itemNode(one, known)
        : group(one, known),
  );
}

function stepNode(attempts: readonly StoredAttempt[]): OutlineStep {
  const [{ path, name }] = attempts as readonly [StoredAttempt];
  return { kind: 'step', path, name, attempts, tone: toneOfAttempt(attempts.at(-1)) };
}

function itemNode(one: Branch, known: Known): OutlineItem {
  const children = nodesIn(one, known);
  const list = known.lists.get(mapOf(one.path));
  const label = `${itemWords[one.word] ?? one.word} ${one.number}`;
  const base = { kind: 'item', path: one.path, number: one.number, label, children } as const;
  const value = one.word === 'map' ? list?.items[one.number - list.from] : undefined;
  return { ...base, ...(value === undefined ? {} : { value }), tone: toneOf(children) };
}

function group(one: Branch, known: Known): OutlineGroup {
  const { path, word } = one;
  const begun = nodesIn(one, known);
  const isRepeated = word in itemWords;
  const children = isRepeated ? withUnbegun(one, begun as readonly OutlineItem[], known) : begun;
  const label = known.labels.get(definedPath(path)) ?? word;
  return { kind: 'group', path, label, isRepeated, children, tone: toneOf(begun) };
}

/** Items that have not begun are there as well, so that each number can be found. */
function withUnbegun(
  { path, word }: Branch,
  begun: readonly OutlineItem[],
  { lists }: Known,
): readonly OutlineItem[] {
  const list = word === 'map' ? lists.get(path) : undefined;
  const known = new Map(begun.map((item) => [item.number, item]));
  for (const [i, value] of list?.items.entries() ?? []) {
    const number = (list?.from ?? 0) + i;
    if (known.has(number)) continue;
    const at = path === '' ? `map.${number}` : `${path}.map.${number}`;
    const base = { kind: 'item', path: at, number, label: `item ${number}`, value } as const;
    known.set(number, { ...base, children: [], tone: 'queued' });
  }
  return [...known.values()].toSorted((a, b) => a.number - b.number);
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

/** The colour of an attempt: that of the status that a job would have. */
function toneOfAttempt(one: StoredAttempt | undefined): Status {
  if (one === undefined) return 'queued';
  if (one.open) return one.state === '$$waiting' ? 'waiting' : 'running';
  if (one.due !== undefined && one.failed) return 'waiting';
  if (one.state === '$$cancelled' || one.state === '$$skipped') return 'cancelled';
  return one.failed ? 'failed' : 'succeeded';
}

/** What runs comes first, then what failed; a failure that a handler made good is none. */
function toneOf(children: readonly OutlineNode[]): Status {
  const recovered = new Set(
    children
      .filter(({ path, tone }) => path.endsWith('.error') && tone === 'succeeded')
      .map(({ path }) => path.slice(0, -'.error'.length)),
  );
  const tones = children.filter(({ path }) => !recovered.has(path)).map(({ tone }) => tone);
  const order: readonly Status[] = ['running', 'waiting', 'failed', 'succeeded', 'cancelled'];
  return order.find((one) => tones.includes(one)) ?? 'queued';
}

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
  return node.kind === 'step' ? node.attempts : node.children.flatMap(attemptsInside);
}

/** The path that stands for a node when it is chosen: of an item the step that failed, or the last. */
export function stepPathOf(node: OutlineNode): string {
  if (node.kind === 'step') return node.path;
  const all = attemptsInside(node);
  return (all.find(({ failed }) => failed) ?? all.at(-1))?.path ?? node.path;
}
