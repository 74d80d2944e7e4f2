import { longParts } from './job.js';
import type { Problem } from './problems.js';
import { mostOf, problemIn, sizeProblem, sizes, type Growth } from './size.js';

type Fields = Readonly<Record<string, unknown>>;

/** Objects that users hand over, and to which engines and plugins add. */
const growing = ['params', 'data', '_attachments'] as const;
/** What engines leave as users wrote it, or bring to one form. */
const copied = [
  'tasks',
  'keys',
  'tags',
  'parent',
  'locked',
  'cancel',
  'target',
  'locks',
  'unique',
] as const;

/** The structures of a flow. */
const structures: ReadonlySet<string> = new Set(['tasks', 'cancel', 'error']);

const growth: Growth = (key) => {
  const { structure, other } = sizes.live.growth;
  return structures.has(key) || key === '' ? structure : other;
};

/**
 * What is too large in a job that is under way, if anything is. Only what takes long to read counts;
 * the limits are beyond anything that an engine writes, because what it wrote must not end the job.
 */
export function liveSizeProblem(job: Fields): Problem | undefined {
  const { live } = sizes;
  const mostKeys = growth('keys') * sizes.keys;
  if (countKeys(job, mostKeys) > mostKeys) {
    return { path: '', message: `The document has more than ${mostKeys} keys.` };
  }
  for (const { at } of longParts) {
    const [key, below] = at;
    const value = below === undefined ? job[key] : (job[key] as Fields | null | undefined)?.[below];
    if (countKeys(value, live.entries) <= live.entries) continue;
    const path = at.join('.');
    return { path, message: `${path} has more than ${live.entries} entries.` };
  }
  for (const key of growing) {
    if (countKeys(job[key], live.members) <= live.members) continue;
    return { path: key, message: `${key} has more than ${live.members} keys.` };
  }
  for (const key of copied) {
    const problem = problemIn(key, job[key], mostOf(key, growth(key)));
    if (problem !== undefined) return problem;
  }
  const { flow_definition: flow, slice } = job;
  return (
    within('flow_definition', flow) ??
    within('slice', isFields(slice) ? { ...slice, before: [] } : slice)
  );
}

/** A definition, or the like, as a part of a job: it has the limits of a document that has grown. */
function within(path: string, value: unknown): Problem | undefined {
  if (!isFields(value)) return undefined;
  const problem = sizeProblem(value, growth);
  if (problem === undefined) return undefined;
  const at = problem.path === '' ? path : `${path}.${problem.path}`;
  return { path: at, message: `In ${path}: ${problem.message}` };
}

/** The members of a value and of the values in it, counted up to somewhat above `most`. */
export function countMembers(value: unknown, most: number): number {
  let count = 1;
  if (!isFields(value)) return count;
  for (const key in value) {
    count += 1 + countKeys(value[key], most);
    if (count > most) break;
  }
  return count;
}

/** What is too large in an entry of a long part. `isDocument`: it has the limits of one. */
export function entrySizeProblem(
  entry: unknown,
  isDocument: boolean,
  pathOf: () => string,
): Problem | undefined {
  if (isDocument) return within(pathOf(), entry);
  const { inEntry } = sizes.live;
  if (countMembers(entry, inEntry) <= inEntry) return undefined;
  return { path: pathOf(), message: `${pathOf()} has more than ${inEntry} members.` };
}

/** The entries of a list or the keys of an object, counted up to one above `most`. */
function countKeys(value: unknown, most: number): number {
  if (Array.isArray(value)) return value.length;
  if (!isFields(value)) return 0;
  let count = 0;
  for (const key in value) {
    if (Object.hasOwn(value, key)) count += 1;
    if (count > most) break;
  }
  return count;
}

/** An object or a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
