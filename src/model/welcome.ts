import type { Problem } from './problems.js';
import { isObject } from './object.js';

/** What a flow says of the jobs that it takes, in a document or as it was read. */
type Host =
  { readonly name?: unknown; readonly deprecated?: unknown; readonly keys?: unknown } | Guest;

type Guest = Readonly<Record<string, unknown>>;

/** Whether a flow is deprecated: it takes no new jobs, and nobody is offered it. */
export function isDeprecated({ deprecated }: Host): boolean {
  return deprecated === true || (typeof deprecated === 'string' && deprecated.trim() !== '');
}

/** What a flow that is deprecated says to do instead; empty where it says nothing. */
export function insteadOfDeprecated({ deprecated }: Host): string {
  return typeof deprecated === 'string' ? deprecated.trim() : '';
}

/**
 * Whether a deprecated flow turns a job away. Jobs that were made for other ones, and those as which one
 * goes on, belong to what had begun before.
 */
export function isTurnedAway(flow: Host, job: Guest): boolean {
  const isOfOther = isObject(job['parent']) || typeof job['continued_from'] === 'string';
  return isDeprecated(flow) && !isOfOther;
}

/** So many keys that are not declared are told. */
const mostTold = 10;

/** The search keys of a job that its flow does not declare; a flow without `keys` takes any. */
export function keysNotDeclared({ name, keys }: Host, job: Guest): readonly Problem[] {
  const { keys: given } = job;
  if (!Array.isArray(keys) || !isObject(given)) return [];
  const declared = keys.map(String);
  const all =
    declared.length === 0 ? 'it declares none' : `it has ${declared.slice(0, mostTold).join(', ')}`;
  return Object.keys(given)
    .filter((key) => !declared.includes(key))
    .slice(0, mostTold)
    .map((key) => ({
      path: `keys.${key}`,
      message: `keys.${key} is not declared in "keys" of flow "${String(name)}": ${all}.`,
    }));
}
