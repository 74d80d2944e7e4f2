import { z } from 'zod';
import { closest } from '../../closest.js';
import { isObject } from '../../model/dialects.js';
import { flowSchema } from '../../model/flow.js';
import { newJobSchema } from '../../model/job.js';
import { toJsonPath } from '../../model/problems.js';
import { taskSchema } from '../../model/task.js';
import type { Written } from '../files.js';

/** A key that nothing reads and that is nearly one that is read. */
export type StrayKey = { readonly path: string; readonly message: string };

/**
 * Keys that look like mistyped ones, wherever the schema of the document names keys: keys of one's
 * own are allowed there, so only what is close to a known one is told. Parameters are free.
 */
export function strayKeys(doc: Written): readonly StrayKey[] {
  switch (doc['type']) {
    case 'task':
      return strayIn(doc, [taskSchema], []);
    case 'flow':
      return strayIn(doc, [flowSchema], []);
    case 'job':
      return strayIn(doc, [newJobSchema], []);
    default:
      return [];
  }
}

type Path = readonly (string | number)[];

/** `schemas`: all that may describe this place; it is enough when one of them knows a key. */
function strayIn(value: unknown, schemas: readonly z.ZodType[], path: Path): readonly StrayKey[] {
  const forms = schemas.flatMap(formsOf);
  if (Array.isArray(value)) {
    const elements = forms.flatMap((form) =>
      form instanceof z.ZodArray ? [form.element as z.ZodType] : [],
    );
    return value.flatMap((item, i) => strayIn(item, elements, [...path, i]));
  }
  if (!isObject(value)) return [];
  const values = forms.flatMap((form) =>
    form instanceof z.ZodRecord ? [form.valueType as z.ZodType] : [],
  );
  const objects = fitting(
    value,
    forms.filter((form) => form instanceof z.ZodObject),
  );
  if (objects.length === 0) {
    return Object.entries(value).flatMap(([key, inner]) => strayIn(inner, values, [...path, key]));
  }
  const known = new Set(objects.flatMap(namesIn));
  const absent = [...known].filter((name) => !Object.hasOwn(value, name));
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!known.has(key)) return stray(key, absent, [...path, key]);
    const below = objects.flatMap(({ shape }) => (shape[key] as z.ZodType | undefined) ?? []);
    return strayIn(inner, below, [...path, key]);
  });
}

/** Those in which every key may stand that the value has; all, when there is none. */
function fitting(value: Written, objects: readonly z.ZodObject[]): readonly z.ZodObject[] {
  const fit = objects.filter((one) => Object.keys(value).every((key) => !isBarred(one, key)));
  return fit.length === 0 ? objects : fit;
}

function namesIn(object: z.ZodObject): readonly string[] {
  return Object.keys(object.shape).filter((key) => !isBarred(object, key));
}

/** The schema names the key only to refuse it. */
function isBarred({ shape }: z.ZodObject, key: string): boolean {
  const own = Object.hasOwn(shape, key) ? (shape[key] as z.ZodType) : undefined;
  return own instanceof z.ZodExactOptional && own.unwrap() instanceof z.ZodNever;
}

/** Shorter keys are near to too many others. */
const shortest = 3;

function stray(key: string, absent: readonly string[], path: Path): readonly StrayKey[] {
  if (key.length < shortest || /^[$_]/.test(key)) return [];
  const meant = closest(key, absent);
  if (meant === undefined) return [];
  const at = toJsonPath(path);
  const message = `${at} is no key that TWS knows, so nothing reads it; did you mean "${meant}"?`;
  return [{ path: at, message }];
}

/** The schemas behind unions, options and references: objects, lists and values. */
function formsOf(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodUnion) {
    return (schema.options as readonly z.ZodType[]).flatMap(formsOf);
  }
  if (schema instanceof z.ZodLazy || schema instanceof z.ZodOptional) {
    return formsOf(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodExactOptional) return formsOf(schema.unwrap() as z.ZodType);
  return [schema];
}
