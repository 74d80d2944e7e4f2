import { CouchError } from '../http/couch-error.js';
import { compareKeys } from '../views/collation.js';

/** Tells whether a document (any JSON value) meets a selector. */
export type Predicate = (value: unknown) => boolean;

type JsonObject = { readonly [name: string]: unknown };

/**
 * Compiles a Mango selector, with CouchDB's rules: fields that are missing match nothing but
 * `$exists: false`, also under a negation.
 * @throws CouchError 400 for an operator or an argument that CouchDB refuses as well.
 * @see https://docs.couchdb.org/en/stable/api/database/find.html#selector-syntax
 */
export function compileSelector(selector: unknown): Predicate {
  if (!isObject(selector)) {
    throw new CouchError(400, 'invalid_selector_json', 'Selector must be a JSON object');
  }
  return compileObject(selector, false);
}

/** True when matching may run a regular expression, which can take any time. */
export function usesRegex(selector: unknown): boolean {
  if (typeof selector !== 'object' || selector === null) return false;
  return Object.entries(selector).some(([name, value]) => name === '$regex' || usesRegex(value));
}

/** Splits `a.b\.c` into `['a', 'b.c']`. */
export function fieldPath(name: string): string[] {
  return name.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.').replace(/^\\\$/, '$'));
}

/** The value at a path, or undefined; array elements by index. */
export function valueAtPath(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}

function compileObject(selector: JsonObject, negated: boolean): Predicate {
  const parts = Object.entries(selector).map(([name, condition]) =>
    name.startsWith('$')
      ? compileOperator(name, condition, negated)
      : compileField(name, condition, negated),
  );
  return negated ? anyOf(parts) : allOf(parts);
}

function compileField(name: string, condition: unknown, negated: boolean): Predicate {
  const path = fieldPath(name);
  if (!isObject(condition)) return onField(path, compileOperator('$eq', condition, negated), false);
  const entries = Object.entries(condition);
  if (entries.length === 0) return onField(path, compileOperator('$eq', condition, negated), false);
  const parts = entries.map(([key, value]) => {
    if (!key.startsWith('$')) return onField(path, compileField(key, value, negated), false);
    if (key === '$not' && isObject(value)) return compileField(name, value, !negated);
    const acceptsMissing = key === '$exists' && (value === true) === negated;
    return onField(path, compileOperator(key, value, negated), acceptsMissing);
  });
  return negated ? anyOf(parts) : allOf(parts);
}

/** A member that is absent inside an absent object counts for `$exists: false` too. */
const onField =
  (path: readonly string[], test: Predicate, whenMissing: boolean): Predicate =>
  (value) => {
    const found = valueAtPath(value, path);
    return found === undefined ? whenMissing : test(found);
  };

function compileOperator(name: string, argument: unknown, negated: boolean): Predicate {
  switch (name) {
    case '$and':
    case '$or': {
      const parts = list(name, argument).map((part) => compileValue(part, negated));
      return (name === '$and') === negated ? anyOf(parts) : allOf(parts);
    }
    case '$nor': {
      const parts = list(name, argument).map((part) => compileValue(part, !negated));
      return negated ? anyOf(parts) : allOf(parts);
    }
    case '$not':
      return compileValue(argument, !negated);
    default: {
      const make = Object.hasOwn(operators, name) ? operators[name] : undefined;
      if (make === undefined) {
        throw new CouchError(400, 'invalid_operator', `Invalid operator: ${name}`);
      }
      const test = make(argument, name);
      return negated ? (value) => !test(value) : test;
    }
  }
}

/** A condition on a value itself: operators, members of it, or a value to equal. */
function compileValue(condition: unknown, negated: boolean): Predicate {
  return isObject(condition)
    ? compileObject(condition, negated)
    : compileOperator('$eq', condition, negated);
}

const compared =
  (accepts: (order: number) => boolean) =>
  (argument: unknown): Predicate =>
  (value) =>
    accepts(compareKeys(value, argument));

const equalsAny = (value: unknown, candidates: readonly unknown[]): boolean =>
  candidates.some((candidate) => compareKeys(value, candidate) === 0);

const isIn = (argument: unknown, name: string): Predicate => {
  const candidates = list(name, argument);
  return (value) =>
    equalsAny(value, candidates) ||
    (Array.isArray(value) && value.some((element) => equalsAny(element, candidates)));
};

const operators: Readonly<Record<string, (argument: unknown, name: string) => Predicate>> = {
  $eq: compared((order) => order === 0),
  $ne: compared((order) => order !== 0),
  $lt: compared((order) => order < 0),
  $lte: compared((order) => order <= 0),
  $gt: compared((order) => order > 0),
  $gte: compared((order) => order >= 0),
  $exists: (argument, name) => {
    if (typeof argument !== 'boolean') throw badArgument(name, argument);
    return () => argument;
  },
  $type: (argument, name) => {
    const types = ['null', 'boolean', 'number', 'string', 'array', 'object'];
    if (typeof argument !== 'string' || !types.includes(argument))
      throw badArgument(name, argument);
    return (value) => typeOf(value) === argument;
  },
  $in: isIn,
  $nin: (argument, name) => {
    const test = isIn(argument, name);
    return (value) => !test(value);
  },
  $all: (argument, name) => {
    const wanted = list(name, argument);
    return (value) =>
      Array.isArray(value) &&
      wanted.length > 0 &&
      (wanted.every((element) => equalsAny(element, value)) ||
        (wanted.length === 1 && compareKeys(value, wanted[0]) === 0));
  },
  $elemMatch: (argument) => {
    const test = compileValue(argument, false);
    return (value) => Array.isArray(value) && value.some(test);
  },
  $allMatch: (argument) => {
    const test = compileValue(argument, false);
    return (value) => Array.isArray(value) && value.length > 0 && value.every(test);
  },
  $keyMapMatch: (argument) => {
    const test = compileValue(argument, false);
    return (value) => isObject(value) && Object.keys(value).some(test);
  },
  $size: (argument, name) => {
    if (!Number.isInteger(argument)) throw badArgument(name, argument);
    return (value) => Array.isArray(value) && value.length === argument;
  },
  $mod: (argument, name) => {
    const [divisor, remainder] = list(name, argument);
    if (!Number.isInteger(divisor) || divisor === 0 || !Number.isInteger(remainder)) {
      throw badArgument(name, argument);
    }
    return (value) => Number.isInteger(value) && Number(value) % Number(divisor) === remainder;
  },
  $regex: (argument, name) => {
    if (typeof argument !== 'string') throw badArgument(name, argument);
    const pattern = regularExpression(argument);
    return (value) => typeof value === 'string' && pattern.test(value);
  },
  $beginsWith: (argument, name) => {
    if (typeof argument !== 'string') throw badArgument(name, argument);
    return (value) => typeof value === 'string' && value.startsWith(argument);
  },
};

/** CouchDB's expressions are PCRE: of its inline flags, `(?i)` and its like at the start are known here. */
function regularExpression(source: string): RegExp {
  const [, flags = '', rest = source] = /^\(\?([ims]+)\)(.*)$/s.exec(source) ?? [];
  try {
    return new RegExp(rest, flags);
  } catch {
    throw badArgument('$regex', source);
  }
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const allOf =
  (parts: readonly Predicate[]): Predicate =>
  (value) =>
    parts.every((part) => part(value));
const anyOf =
  (parts: readonly Predicate[]): Predicate =>
  (value) =>
    parts.some((part) => part(value));

function list(name: string, argument: unknown): readonly unknown[] {
  if (!Array.isArray(argument)) throw badArgument(name, argument);
  return argument;
}

const badArgument = (name: string, argument: unknown): CouchError =>
  new CouchError(400, 'bad_arg', `Bad argument for operator ${name}: ${JSON.stringify(argument)}`);
