import { z } from 'zod';
import { closest } from '../model/closest.js';
import { isObject } from '../model/object.js';
import { insteadOf, type KeyPlace } from './foreign-keys.js';
import { engineKeys } from '../model/job.js';
import { flowSchema, newJobSchema } from './documents.js';
import { hookSchema } from '../model/hook.js';
import { widest } from '../model/limits.js';
import { nodeKinds } from '../structures/kinds.js';
import { toJsonPath, type Problem } from '../model/problems.js';
import { notifyListSchema } from '../model/notify-list.js';
import { queueControlSchema } from '../model/queue-control.js';
import { scheduleSchema } from '../model/schedule.js';
import { taskSchema } from '../model/task.js';

type Written = Readonly<Record<string, unknown>>;

/** How far a document is looked through. */
export type Bounds = {
  /** Maximum number of objects and unknown keys that are read, and of keys of one object; default: all. */
  readonly most?: number;
  /** Keys of the document that are looked at by somebody else. */
  readonly except?: readonly string[];
};

/**
 * Keys that look like a feature and that nothing reads, wherever the schema of a task, flow or job
 * names keys: those close to a known one, those that other engines have and those that TWS reads in
 * another place. Keys of one's own are allowed, so no other one is told. Parameters are free. Also told is
 * a `limit` of a map that is higher than any engine goes.
 */
export function unreadKeys(
  doc: Written,
  { most = Infinity, except = [] }: Bounds = {},
): readonly Problem[] {
  const root = roots.find(({ type }) => type === doc['type']);
  if (root === undefined || Object.keys(doc).length > most) return [];
  const rest = Object.entries(doc).filter(([key]) => !except.includes(key));
  const walk = { root, left: most };
  return unreadIn(Object.fromEntries(rest), [root.schema], [], walk);
}

type Root = {
  readonly type: KeyPlace;
  readonly schema: z.ZodType;
  /** Keys that the engines write: neither unknown nor meant by a mistyped one. */
  readonly beside: ReadonlySet<string>;
};

const roots: readonly Root[] = [
  { type: 'task', schema: taskSchema, beside: new Set() },
  { type: 'flow', schema: flowSchema, beside: new Set() },
  { type: 'job', schema: newJobSchema, beside: engineKeys },
  { type: 'schedule', schema: scheduleSchema, beside: new Set() },
  { type: 'hook', schema: hookSchema, beside: new Set() },
  { type: 'queue-control', schema: queueControlSchema, beside: new Set() },
  { type: 'notify', schema: notifyListSchema, beside: new Set() },
];

/** `left`: number of objects and unknown keys that may still be read. */
type Walk = { readonly root: Root; left: number };
type Path = readonly (string | number)[];

/** `schemas`: all that may describe this place; it is enough when one of them knows a key. */
function unreadIn(
  value: unknown,
  schemas: readonly z.ZodType[],
  path: Path,
  walk: Walk,
): readonly Problem[] {
  if (typeof value !== 'object' || value === null || walk.left <= 0) return [];
  walk.left -= 1;
  const forms = schemas.flatMap(formsOf);
  if (Array.isArray(value)) {
    const elements = forms.flatMap((form) =>
      form instanceof z.ZodArray ? [form.element as z.ZodType] : [],
    );
    return value.flatMap((item, i) => unreadIn(item, elements, [...path, i], walk));
  }
  if (!isObject(value) || Object.keys(value).length > walk.left) return [];
  const values = forms.flatMap((form) =>
    form instanceof z.ZodRecord ? [form.valueType as z.ZodType] : [],
  );
  const objects = fitting(
    value,
    forms.filter((form) => form instanceof z.ZodObject),
  );
  if (objects.length === 0) {
    return Object.entries(value).flatMap(([key, inner]) =>
      unreadIn(inner, values, [...path, key], walk),
    );
  }
  const known = objects.map(keysOf);
  const place = placeOf(value, path, walk.root);
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    if (!known.some(({ named }) => named.has(key))) {
      return unread(key, { value, known, place, at, walk });
    }
    const below = objects.flatMap(({ shape }) => (shape[key] as z.ZodType | undefined) ?? []);
    const [own] = key === 'limit' ? capped(at, place, inner) : [];
    const found = typeof inner === 'object' ? unreadIn(inner, below, at, walk) : [];
    return own === undefined ? found : [own, ...found];
  });
}

/** A number of which only a part counts. */
function capped(at: Path, place: KeyPlace | undefined, value: unknown): readonly Problem[] {
  if (place !== 'map' || typeof value !== 'number' || value <= widest) return [];
  const most = `a map works on ${widest} items at a time at the most`;
  return [unreadKey(at, `is ${value}, of which only a part counts`, most)];
}

function placeOf(value: Written, path: Path, { type }: Root): KeyPlace | undefined {
  if (path.length === 0) return type;
  const last = path.at(-1);
  if (last === 'retry' || last === 'map') return last;
  const isNode = path[0] !== 'notify' && nodeKinds.some((kind) => Object.hasOwn(value, kind));
  return isNode ? 'node' : undefined;
}

/** Those in which every key may stand that the value has; all, when there is none. */
function fitting(value: Written, objects: readonly z.ZodObject[]): readonly z.ZodObject[] {
  const keys = Object.keys(value);
  const fit = objects.filter((one) => {
    const { barred } = keysOf(one);
    return barred.size === 0 || !keys.some((key) => barred.has(key));
  });
  return fit.length === 0 ? objects : fit;
}

/** `barred`: keys that the schema names only to refuse them. */
type Keys = { readonly named: ReadonlySet<string>; readonly barred: ReadonlySet<string> };

const keys = new WeakMap<z.ZodObject, Keys>();

function keysOf(object: z.ZodObject): Keys {
  const known = keys.get(object);
  if (known !== undefined) return known;
  const all = Object.keys(object.shape);
  const barred = new Set(all.filter((key) => isRefused(object.shape[key] as z.ZodType)));
  const made = { named: new Set(all.filter((key) => !barred.has(key))), barred };
  keys.set(object, made);
  return made;
}

function isRefused(schema: z.ZodType): boolean {
  return schema instanceof z.ZodExactOptional && schema.unwrap() instanceof z.ZodNever;
}

/** Shorter keys are near to too many others, and longer ones are no words. */
const shortest = 3;
const longest = 40;

type Around = {
  readonly value: Written;
  readonly known: readonly Keys[];
  readonly place: KeyPlace | undefined;
  readonly at: Path;
  readonly walk: Walk;
};

function unread(key: string, { value, known, place, at, walk }: Around): readonly Problem[] {
  if (/^[$_]/.test(key) || key.length > longest || walk.left <= 0) return [];
  walk.left -= 1;
  const instead = place === undefined ? undefined : insteadOf(key, place);
  if (instead !== undefined) return [unreadKey(at, 'has no effect here', instead)];
  if (at.length === 1 && walk.root.beside.has(key)) return [];
  if (key.length < shortest) return [];
  const names = new Set(known.flatMap(({ named }) => [...named]));
  const absent = [...names].filter((name) => !Object.hasOwn(value, name));
  const meant = closest(key, absent);
  if (meant === undefined) return [];
  const what = 'is no key that TWS knows, so nothing reads it; did you mean';
  const path = toJsonPath(at);
  return [{ path, message: `${path} ${what} "${meant}"?` }];
}

function unreadKey(at: Path, what: string, instead: string): Problem {
  const path = toJsonPath(at);
  return { path, message: `${path} ${what}: ${instead}.` };
}

const unfoldings = new WeakMap<z.ZodType, readonly z.ZodType[]>();

/** The schemas behind unions, options and references: objects, lists and values. */
function formsOf(schema: z.ZodType): readonly z.ZodType[] {
  const forms = unfoldings.get(schema) ?? unfolded(schema);
  unfoldings.set(schema, forms);
  return forms;
}

function unfolded(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodUnion) {
    return (schema.options as readonly z.ZodType[]).flatMap(formsOf);
  }
  if (schema instanceof z.ZodLazy || schema instanceof z.ZodOptional) {
    return formsOf(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodExactOptional) return formsOf(schema.unwrap() as z.ZodType);
  return [schema];
}
