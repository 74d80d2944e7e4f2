import type { JsonSchema } from './scalars.js';
import type { Unique } from './unique.js';

/** Longer paths are followed no further. */
const mostParts = 8;

/**
 * The keys of `params` that a template, a condition, a list to go over or an output reads as
 * `params.<key>`, also keys with dots in them. One pass, however many keys are asked for.
 */
export function paramsRead(definition: unknown): ReadonlySet<string> {
  const text = JSON.stringify(definition) ?? '';
  const read = new Set<string>();
  for (const [, path = ''] of text.matchAll(/params\.([^\s"'`{}()[\],;:=<>!&|+*/%\\~^?#$@]+)/g)) {
    let key = '';
    for (const part of path.split('.', mostParts)) {
      key = key === '' ? part : `${key}.${part}`;
      read.add(key);
    }
  }
  return read;
}

/** The paths of parameters that a key of `unique` lists, as \`paramsRead\` finds them. */
export function paramsOfKey(unique: Unique | undefined): readonly string[] {
  const key = unique?.key;
  return Array.isArray(key) ? key.map((path) => `params.${path}`) : [];
}

/** Whether the schema of a flow says that its jobs may have parameters of any name. */
export function takesAnyParams({ schema }: { readonly schema?: JsonSchema }): boolean {
  return schema?.['additionalProperties'] === true;
}
