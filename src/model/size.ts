import type { Problem } from './problems.js';

/**
 * How large a document may be, so that reading it and deciding about it holds up nobody. Every text,
 * number, list and object in it counts as a value, and so does every key.
 */
export const sizes = {
  /** Values of a key that is not named below. */
  values: 10_000,
  /** Values of keys that hold what users want to hand over. */
  valuesOf: { params: 50_000, data: 50_000, schema: 50_000 },
  /** Characters in the texts and keys of one key: 1 MiB. */
  characters: 1_048_576,
  /** Nodes in one list of a structure, names in one `after`, and decisions in one answer of a decider. */
  nodes: 2_000,
  /** Values of a document as a whole. */
  written: 100_000,
  /** Keys of a document, not counting those inside of its values. */
  keys: 10_000,
  /**
   * Of a job that is under way, as an engine reads it; engines write less. `entries`: of a list that
   * they add to, like `steps`; `inEntry`: the members of one and of the values in it; `members`: of an
   * object that users hand over, like `params`. What was copied into the job may be so many times as
   * large as it may be in a document: a structure grows when it is brought to one form, and
   * parameters come together.
   */
  live: { entries: 22_000, inEntry: 80_000, members: 80_000, growth: { structure: 6, other: 2 } },
  /** The lists of all maps of a job that is under way, together. */
  lists: { values: 500_000, characters: 4_194_304 },
  /** Levels of lists and objects in each other. */
  depth: 200,
} as const;

type Fields = Readonly<Record<string, unknown>>;

/** How many times as large as in a document that a user writes the value of a key may be. */
export type Growth = (key: string) => number;

/** What is too large in a document that a user writes, or in its copy that has grown, if anything is. */
export function sizeProblem(doc: Fields, growth?: Growth): Problem | undefined {
  let values = sizes.written * (growth?.('') ?? 1);
  let keys = 0;
  for (const key in doc) {
    keys += 1;
    const mostKeys = sizes.keys * (growth?.('keys') ?? 1);
    if (keys > mostKeys)
      return { path: '', message: `The document has more than ${mostKeys} keys.` };
    const value = doc[key];
    values -= 2;
    const isSmall =
      typeof value === 'string' ? value.length <= sizes.characters : typeof value !== 'object';
    if (!isSmall) {
      const most = mostOf(key, growth?.(key));
      const left = { ...most };
      const problem = problemIn(key, value, left);
      if (problem !== undefined) return problem;
      values -= most.values - left.values - 1;
    }
    if (values < 0) {
      const message = `The document has more than ${sizes.written} values.`;
      return { path: '', message };
    }
  }
  return undefined;
}

/**
 * What is too large in the value of a key. `left`: what it may hold; what it does hold is taken away,
 * as long as there is enough.
 */
export function problemIn(
  key: string,
  value: unknown,
  left: Left = mostOf(key),
): Problem | undefined {
  const most = { ...left };
  const found = walk(value, 0, { left, isStructure: key === 'tasks' });
  return found === undefined ? undefined : problemOf(key, found, most);
}

/** What may still be counted. */
export type Left = { values: number; characters: number };
type TooLarge = 'depth' | 'values' | 'characters' | 'nodes';

/** How many values there are in one; it is not counted much beyond `most`. */
export function countValues(value: unknown, most: number): number {
  const left = { values: most, characters: Infinity };
  return walk(value, 0, { left, isStructure: false }) === undefined ? most - left.values : most + 1;
}

/** Takes a value from what is left; returns whether there was enough. */
export function takeFrom(left: Left, value: unknown): boolean {
  return walk(value, 0, { left, isStructure: false }) === undefined;
}

/** What the value of a key may hold, as long as `times` documents together. */
export function mostOf(key: string, times = 1): Left {
  const values: number = Object.hasOwn(sizes.valuesOf, key)
    ? sizes.valuesOf[key as keyof typeof sizes.valuesOf]
    : sizes.values;
  return { values: times * values, characters: times * sizes.characters };
}

type Walk = { readonly left: Left; readonly isStructure: boolean };

/** Ends as soon as something is too large. Parameters inside a structure count as values only. */
function walk(value: unknown, depth: number, { left, isStructure }: Walk): TooLarge | undefined {
  left.values -= 1;
  if (typeof value === 'string') left.characters -= value.length;
  if (left.characters < 0) return 'characters';
  if (left.values < 0) return 'values';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === sizes.depth) return 'depth';
  return Array.isArray(value)
    ? walkList(value, depth, { left, isStructure })
    : walkFields(value as Fields, depth, { left, isStructure });
}

function walkList(list: readonly unknown[], depth: number, at: Walk): TooLarge | undefined {
  if (list.length > at.left.values) return 'values';
  if (at.isStructure && list.length > sizes.nodes) return 'nodes';
  for (const item of list) {
    const found = walk(item, depth + 1, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function walkFields(fields: Fields, depth: number, at: Walk): TooLarge | undefined {
  const { left } = at;
  for (const key in fields) {
    left.values -= 1;
    left.characters -= key.length;
    const isStructure = at.isStructure && key !== 'params' && key !== 'over';
    const found = walk(fields[key], depth + 1, { left, isStructure });
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(path: string, found: TooLarge, most: Left): Problem {
  return { path, message: `${path} ${sentence(found, most)}` };
}

function sentence(found: TooLarge, { values, characters }: Left): string {
  switch (found) {
    case 'depth':
      return `is nested deeper than ${sizes.depth} levels.`;
    case 'values':
      return `has more than ${values} values; keep large data elsewhere and hand over where it is, or split the work into child flows.`;
    case 'characters':
      return `has more than ${characters} characters of text; keep large data elsewhere and hand over where it is.`;
    case 'nodes':
      return `has a list of more than ${sizes.nodes} nodes; go over a list with "map", or split the work into child flows.`;
  }
}
