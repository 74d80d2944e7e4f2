import type { Design } from '../databases/design.js';
import { isJsonObject } from '../http/body.js';
import { CouchError } from '../http/couch-error.js';
import { encodeKey } from './collation.js';
import type { IndexRow } from './view-index.js';

/** Rows that a reduce function of the user gets at once; the results are reduced again. */
const CHUNK = 1_000;

/** A reduce function: gathers rows one by one, so that a group of any size needs little memory. */
export type Reduction = { add(row: IndexRow): void; result(): Promise<unknown> };

/** Starts a reduction; `source` is a built-in's name or JavaScript. */
export function startReduction(design: Design, source: string): Reduction {
  switch (source) {
    case '_count':
      return count();
    case '_sum':
      return sum();
    case '_stats':
      return stats();
    case '_approx_count_distinct':
      return distinct();
    default:
      return custom(design, source);
  }
}

function count(): Reduction {
  let n = 0;
  return { add: () => void (n += 1), result: () => Promise.resolve(n) };
}

/** Not an estimate as CouchDB's is: the exact number. */
function distinct(): Reduction {
  const keys = new Set<string>();
  return {
    add: ({ key }) => void keys.add(encodeKey(key)),
    result: () => Promise.resolve(keys.size),
  };
}

/** Numbers, and arrays and objects of numbers, member by member; CouchDB answers others in the row. */
function sum(): Reduction {
  let total: unknown;
  let failed: string | undefined;
  return {
    add: ({ value }) => {
      if (failed !== undefined) return;
      const next = total === undefined ? addNumbers(0, value) : addNumbers(total, value);
      if (next === undefined) failed = JSON.stringify(value);
      else total = next;
    },
    result: () =>
      Promise.resolve(
        failed === undefined
          ? (total ?? 0)
          : {
              error: 'builtin_reduce_error',
              reason: `The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with other data structures. Objects can be arbitrarily nested, provided that the values for the key are numbers or arrays of numbers. The offending value is ${failed}.`,
            },
      ),
  };
}

function addNumbers(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (Array.isArray(a) || Array.isArray(b)) {
    const left = Array.isArray(a) ? (a as unknown[]) : [a];
    const right = Array.isArray(b) ? (b as unknown[]) : [b];
    const length = Math.max(left.length, right.length);
    const added = Array.from({ length }, (_, i) => addNumbers(left[i] ?? 0, right[i] ?? 0));
    return added.includes(undefined) ? undefined : added;
  }
  if (isJsonObject(b) && (isJsonObject(a) || a === 0)) {
    const result: Record<string, unknown> = isJsonObject(a) ? { ...a } : {};
    for (const [name, value] of Object.entries(b)) {
      const added = addNumbers(result[name] ?? 0, value);
      if (added === undefined) return undefined;
      result[name] = added;
    }
    return result;
  }
  return undefined;
}

type Stats = { sum: number; count: number; min: number; max: number; sumsqr: number };

/** Over numbers, objects with the members of `Stats`, and arrays of either, element by element. */
function stats(): Reduction {
  let total: Stats | Stats[] | undefined;
  return {
    add: ({ value }) => {
      const given = Array.isArray(value) ? (value as unknown[]).map(asStats) : asStats(value);
      total = total === undefined ? given : joinStats(total, given);
    },
    result: () => Promise.resolve(total),
  };
}

function joinStats(a: Stats | Stats[], b: Stats | Stats[]): Stats | Stats[] {
  if (!Array.isArray(a) && !Array.isArray(b)) {
    return {
      sum: a.sum + b.sum,
      count: a.count + b.count,
      min: Math.min(a.min, b.min),
      max: Math.max(a.max, b.max),
      sumsqr: a.sumsqr + b.sumsqr,
    };
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.map((each, i) => joinStats(each, b[i] as Stats) as Stats);
  }
  throw notNumbers(a);
}

function asStats(value: unknown): Stats {
  if (typeof value === 'number') {
    return { sum: value, count: 1, min: value, max: value, sumsqr: value * value };
  }
  const names = ['sum', 'count', 'min', 'max', 'sumsqr'];
  if (isJsonObject(value) && names.every((name) => typeof value[name] === 'number')) {
    return value as Stats;
  }
  throw notNumbers(value);
}

const notNumbers = (value: unknown): CouchError =>
  new CouchError(
    500,
    'builtin_reduce_error',
    `The _stats function requires that map values be numbers or arrays of numbers, not ${JSON.stringify(value)}`,
  );

function custom(design: Design, source: string): Reduction {
  const chunks: string[] = [];
  let rows: IndexRow[] = [];
  const close = (): void => {
    const keys = rows.map((row) => [row.key, row.id]);
    chunks.push(JSON.stringify([keys, rows.map((row) => row.value), false]));
    rows = [];
  };
  return {
    add: (row) => {
      rows.push(row);
      if (rows.length === CHUNK) close();
    },
    result: async () => {
      if (rows.length > 0) close();
      let values = await design.reduce(source, chunks);
      if (values.length > 1)
        values = await design.reduce(source, [JSON.stringify([null, values, true])]);
      return values[0] ?? null;
    },
  };
}
