import { z } from 'zod';
import { isObject } from './object.js';

const longest = 1_000;
const error = `must be a string of at most ${longest} characters, or an object with a "scope"`;
const textSchema = z.string({ error }).max(longest, { error });
const scopeSchema = z
  .enum(['owner', 'database'], { error: 'must be "owner" or "database"' })
  .describe(
    '"database": counts for the jobs of all owners; in the API only admins may ask for it.',
  );

/** What a job works on: a name among the targets of its owner, or of the whole database. */
export const targetSchema = z.union(
  [textSchema, z.strictObject({ name: textSchema, scope: z.exactOptional(scopeSchema) })],
  { error },
);

/** Which targets a job locks: those of the jobs of its owner, or of all owners. */
export const locksSchema = z.union(
  [textSchema, z.strictObject({ pattern: textSchema, scope: z.exactOptional(scopeSchema) })],
  { error },
);

/** A target or a pattern, and for whose jobs it counts. */
export type Scoped = { readonly text: string; readonly scope: 'owner' | 'database' };

/** The target of a job document of any form; undefined: it has none. An empty text is none. */
export function targetOf(target: unknown): Scoped | undefined {
  return scoped(target, 'name');
}

/** The pattern of a job document of any form; an empty text would match every target and is none. */
export function patternOf(locks: unknown): Scoped | undefined {
  return scoped(locks, 'pattern');
}

/** Whether a job document asks for a lock that counts for all owners. */
export function locksDatabase(job: Readonly<Record<string, unknown>>): boolean {
  const { target, locks } = job;
  return [targetOf(target), patternOf(locks)].some((one) => one?.scope === 'database');
}

function scoped(value: unknown, key: 'name' | 'pattern'): Scoped | undefined {
  const { [key]: text, scope } = isObject(value) ? value : { [key]: value };
  if (typeof text !== 'string' || text === '') return undefined;
  return { text, scope: scope === 'database' ? 'database' : 'owner' };
}

/** `subject` of a job: whom its sensitive values are about. Whatever else stands there names nobody. */
export const jobSubjectSchema = z
  .unknown()
  .describe('Reference (`s-…`) of the subject whose sensitive values its steps may use.');
