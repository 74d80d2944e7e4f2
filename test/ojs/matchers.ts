import { isRecord } from './json-path.js';

/*
 * What the cases of the suite expect of a value, as its documentation describes it. Each function answers
 * why a value does not match; undefined: it matches.
 */

/** Shares by which "about" may be missed: the suite's own. */
const tolerance = 0.5;

const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: () => true,
  absent: (value) => value == null,
  exists: (value) => value != null,
  'string:nonempty': isText,
  'string:non_empty': isText,
  'string:uuid': (value) => isLike(value, /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
  'string:uuidv7': (value) =>
    isLike(value, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
  'string:datetime': (value) =>
    isLike(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/),
  'number:positive': (value) => typeof value === 'number' && value > 0,
  'number:non_negative': (value) => typeof value === 'number' && value >= 0,
  'array:nonempty': (value) => Array.isArray(value) && value.length > 0,
  'array:empty': (value) => Array.isArray(value) && value.length === 0,
};

/** Forms with something after them. */
const patterns: readonly (readonly [RegExp, (value: unknown, ...said: string[]) => boolean])[] = [
  [
    /^array:min(?:_length)?:(\d+)$/,
    (value, n) => Array.isArray(value) && value.length >= Number(n),
  ],
  [
    /^array:length(?::(\d+)|\((\d+)\))$/,
    (value, n, m) => Array.isArray(value) && value.length === Number(n ?? m),
  ],
  [
    /^contains:(.*)$/,
    (value, text) => Array.isArray(value) && value.map(String).includes(text ?? ''),
  ],
  [
    /^not_contains:(.*)$/,
    (value, text) => Array.isArray(value) && !value.map(String).includes(text ?? ''),
  ],
  [
    /^string:contains:(.*)$/,
    (value, text) => typeof value === 'string' && value.includes(text ?? ''),
  ],
  [/^string:pattern\((.*)\)$/, (value, text) => isLike(value, new RegExp(text ?? ''))],
  [
    /^number:range\((-?[\d.]+),\s*(-?[\d.]+)\)$/,
    (value, from, to) => typeof value === 'number' && value >= Number(from) && value <= Number(to),
  ],
  [/^~([\d.]+)$/, (value, about) => isAbout(value, Number(about))],
];

/** Why a value is not as a case wants it. */
export function mismatch(wanted: unknown, value: unknown): string | undefined {
  if (matches(wanted, value)) return undefined;
  return `expected ${JSON.stringify(wanted)}, got ${JSON.stringify(value) ?? 'nothing'}`;
}

function matches(wanted: unknown, value: unknown): boolean {
  if (wanted === null) return value == null;
  if (typeof wanted === 'string') return matchesWord(wanted, value);
  if (Array.isArray(wanted)) {
    const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    return list?.length === wanted.length && wanted.every((one, i) => matches(one, list[i]));
  }
  return isRecord(wanted) ? matchesRecord(wanted, value) : wanted === value;
}

function matchesWord(wanted: string, value: unknown): boolean {
  const form = Object.hasOwn(forms, wanted) ? forms[wanted] : undefined;
  if (form !== undefined) return form(value);
  for (const [pattern, test] of patterns) {
    const match = pattern.exec(wanted);
    if (match !== null) return test(value, ...match.slice(1));
  }
  return value === wanted;
}

function matchesRecord(wanted: Readonly<Record<string, unknown>>, value: unknown): boolean {
  for (const [name, operator] of Object.entries(operators)) {
    if (name in wanted) return operator(wanted[name], value, wanted);
  }
  if (!isRecord(value)) return false;
  return Object.entries(wanted).every(([key, one]) =>
    one === 'absent' ? !(key in value) : key in value && matches(one, value[key]),
  );
}

type Operator = (said: unknown, value: unknown, all: Readonly<Record<string, unknown>>) => boolean;

const operators: Readonly<Record<string, Operator>> = {
  $exists: (said, value, { $type: type }) =>
    (said === true) === (value != null) && (type === undefined || type === typeOf(value)),
  $match: (said, value) => isLike(value, new RegExp(String(said))),
  $in: (said, value) => Array.isArray(said) && said.some((one) => matches(one, value)),
  $or: (said, value) => Array.isArray(said) && said.some((one) => matches(one, value)),
  $size: (said, value) => {
    if (!Array.isArray(value)) return false;
    return isRecord(said) ? value.length >= Number(said['$gte']) : value.length === said;
  },
  $empty: () => true,
  range: (said, value) => {
    const { min = -Infinity, max = Infinity } = isRecord(said) ? said : {};
    return typeof value === 'number' && value >= Number(min) && value <= Number(max);
  },
};

/** Whether a status is as wanted: a number, a form, `one_of:400,422`, or `{$in: […]}`. */
export function isStatus(wanted: unknown, status: number): boolean {
  const list = typeof wanted === 'string' ? /^one_of:(.*)$/.exec(wanted)?.[1] : undefined;
  if (list !== undefined) return list.split(',').map(Number).includes(status);
  return matches(wanted, status);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isLike(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isAbout(value: unknown, about: number): boolean {
  return typeof value === 'number' && Math.abs(value - about) <= about * tolerance;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
