import { isObject } from '../model/object.js';
import type { OfferPlace } from '../model/work.js';

/*
 * Jobs for workers mostly differ in what they carry, and the rules look at none of that. What the rules make of
 * one such job is kept as a form, by which others are made.
 *
 * BF1 A form is made of what the rules make of two samples, which differ in id, time and place in line only. Where
 *     the two results differ in anything that does not follow from these three, there is no form.
 * BF2 A job belongs to a form by everything in it but its id and `ojs`, which the rules do not read.
 */

/** A job before the rules have seen it. */
type Unbegun = { readonly _id: string; readonly [key: string]: unknown };

/** What a begun job depends on, beside what its form says. `now`: epoch ms. */
export type OneOfForm = {
  readonly id: string;
  readonly now: number;
  readonly place: OfferPlace;
};

/** What stands at a place of a form: a value, or what is made of it for one job. */
type Part =
  | { readonly kind: 'same'; readonly value: unknown }
  | { readonly kind: 'text'; readonly make: (one: OneOfForm) => string }
  | { readonly kind: 'time'; readonly after: number }
  | { readonly kind: 'list'; readonly items: readonly Part[] }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [string, Part])[] };

/** Makes begun jobs. */
export type BegunForm = (job: Unbegun, one: OneOfForm) => Record<string, unknown>;

/** What the rules made of a sample. */
export type Sample = { readonly one: OneOfForm; readonly job: object };

/** Longer keys are of jobs that are one of a kind. */
const longestKey = 2_000;

/** The key of the form of a job; undefined: such jobs have none. */
export function formKeyOf({ _id, ojs, ...rest }: Unbegun): string | undefined {
  if (!isObject(ojs) || !Object.keys(rest).every((key) => simple.has(key))) return undefined;
  const { tasks } = rest;
  if (!Array.isArray(tasks) || !tasks.every(isPlainEntry)) return undefined;
  const key = JSON.stringify(rest);
  return key.length > longestKey ? undefined : key;
}

/** Nothing else is in jobs that have a form: no time, no parameters, nothing that other documents depend on. */
const simple: ReadonlySet<string> = new Set([
  'type',
  'owner',
  'tasks',
  'priority',
  'tags',
  'queue',
]);

/** An entry for workers: they get their arguments beside it. */
function isPlainEntry(entry: unknown): boolean {
  if (!isObject(entry) || typeof entry['task'] !== 'string') return false;
  const { params } = entry;
  return params === undefined || (isObject(params) && Object.keys(params).join() === 'worker');
}

/** The form of what the rules made of two samples (BF1); undefined: they have none. */
export function begunFormOf(first: Sample, second: Sample): BegunForm | undefined {
  const made = partOf(first.job, second.job, { first: first.one, second: second.one });
  if (made?.kind !== 'fields') return undefined;
  return (job, one) => ({ ...(filled(made, one) as Record<string, unknown>), ojs: job['ojs'] });
}

type Pair = { readonly first: OneOfForm; readonly second: OneOfForm };

function partOf(one: unknown, other: unknown, pair: Pair): Part | undefined {
  if (Object.is(one, other)) return { kind: 'same', value: one };
  if (typeof one === 'number' && typeof other === 'number') return timeIn(one, other, pair);
  if (typeof one === 'string' && typeof other === 'string') return textIn(one, other, pair);
  if (Array.isArray(one) && Array.isArray(other)) {
    const items = one.length === other.length ? partsOf(one, other, pair) : undefined;
    return items && shortest({ kind: 'list', items }, items, one);
  }
  if (!isObject(one) || !isObject(other)) return undefined;
  const keys = Object.keys(one);
  if (keys.join() !== Object.keys(other).join()) return undefined;
  const parts = partsOf(Object.values(one), Object.values(other), pair);
  if (parts === undefined) return undefined;
  const fields = parts.map((part, i) => [keys[i] ?? '', part] as const);
  return shortest({ kind: 'fields', fields }, parts, one);
}

function partsOf(ones: readonly unknown[], others: readonly unknown[], pair: Pair) {
  const parts = ones.map((one, i) => partOf(one, others[i], pair));
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

/** What is the same in all jobs is shared by them. */
function shortest(part: Part, parts: readonly Part[], value: unknown): Part {
  return parts.every(({ kind }) => kind === 'same') ? { kind: 'same', value } : part;
}

function timeIn(one: number, other: number, { first, second }: Pair): Part | undefined {
  const after = one - first.now;
  return other - second.now === after ? { kind: 'time', after } : undefined;
}

/** A text in which the id or the place in line stands. */
function textIn(one: string, other: string, { first, second }: Pair): Part | undefined {
  for (const token of tokens) {
    const [before, after, ...more] = one.split(token(first));
    if (before === undefined || after === undefined || more.length > 0) continue;
    const make = (own: OneOfForm): string => `${before}${token(own)}${after}`;
    if (make(second) === other) return { kind: 'text', make };
  }
  return undefined;
}

const tokens: readonly ((one: OneOfForm) => string)[] = [
  ({ id }) => id,
  ({ place: { at, id } }) => `${String(at).padStart(16, '0')}/${id}`,
];

function filled(part: Part, one: OneOfForm): unknown {
  switch (part.kind) {
    case 'same':
      return part.value;
    case 'text':
      return part.make(one);
    case 'time':
      return one.now + part.after;
    case 'list':
      return part.items.map((item) => filled(item, one));
    case 'fields':
      return Object.fromEntries(part.fields.map(([key, item]) => [key, filled(item, one)]));
  }
}
