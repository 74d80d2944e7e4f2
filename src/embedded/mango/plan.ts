import { isJsonObject, type JsonObject } from '../http/body.js';
import { CouchError } from '../http/couch-error.js';
import { compareKeys } from '../views/collation.js';
import type { ViewRange } from '../views/view-index.js';
import type { MangoIndex } from './indexes.js';

/** What a selector says of one field, as far as an index can use it. */
type Constraint = { eq?: { value: unknown }; low?: { value: unknown }; high?: { value: unknown } };

export type Sort = { readonly fields: readonly string[]; readonly descending: boolean };

/** How a query is answered: which index, which part of it, in which direction. */
export type Plan = {
  readonly index: MangoIndex;
  readonly range: ViewRange;
  readonly warning: string | undefined;
};

type Request = {
  readonly selector: JsonObject;
  readonly sort: Sort;
  /** Design document and index name, as far as the query insists. */
  readonly useIndex: readonly string[];
  readonly allowFallback: boolean;
};

/** Chooses the index with the longest part of its fields fixed or bounded. @throws CouchError 400 */
export function planQuery(indexes: readonly MangoIndex[], request: Request): Plan {
  const constraints = constraintsOf(request.selector);
  const usable = indexes.filter((index) => isUsable(index, constraints, request.sort));
  const named = usable.filter((index) => isNamed(index, request.useIndex));
  const wanted = request.useIndex.length > 0;
  const candidates =
    wanted && named.length > 0 ? named : usable.filter((index) => index.partial === undefined);
  const [best] = [...candidates].sort((a, b) => rank(b, constraints) - rank(a, constraints));
  const ignored = wanted && named.length === 0;
  if (ignored && !request.allowFallback) throw noIndex(request, 'use_index');
  if (best === undefined && request.sort.fields.length > 0) throw noIndex(request, 'sort');
  const primary = indexes.find((index) => index.source === undefined);
  const index = best ?? primary;
  if (index === undefined) throw noIndex(request, 'sort');
  const bounded = index.fields.some((field) => constraints.has(field));
  return {
    index,
    range: rangeOf(index, constraints, request.sort.descending),
    warning: ignored
      ? `${request.useIndex.join(', ')} was not used because it is not a valid index for this query.`
      : index.source === undefined && !bounded
        ? 'No matching index found, create an index to optimize query time.'
        : undefined,
  };
}

function noIndex({ useIndex }: Request, why: 'sort' | 'use_index'): CouchError {
  const reason =
    why === 'sort'
      ? 'No index exists for this sort, try indexing by the sort fields.'
      : `${useIndex.join(', ')} specified by \`use_index\` could not be found or it is not suitable.`;
  return new CouchError(400, 'no_usable_index', reason);
}

const isNamed = (index: MangoIndex, [ddoc, name]: readonly string[]): boolean =>
  ddoc !== undefined &&
  index.ddoc !== null &&
  index.ddoc.replace(/^_design\//, '') === ddoc.replace(/^_design\//, '') &&
  (name === undefined || index.name === name);

/** An index lists documents that have all its fields: the query must imply them, or sort by them. */
function isUsable(
  index: MangoIndex,
  constraints: ReadonlyMap<string, Constraint>,
  sort: Sort,
): boolean {
  if (index.source === undefined) {
    return (
      sort.fields.every((field) => field === '_id') &&
      (sort.fields.length > 0 || constraints.has('_id'))
    );
  }
  const implied = index.fields.every(
    (field) =>
      constraints.has(field) || sort.fields.includes(field) || field === '_id' || field === '_rev',
  );
  return implied && sorts(index.fields, sort.fields, constraints);
}

/** The order of an index is that of its fields; fields fixed by the query do not count. */
function sorts(
  fields: readonly string[],
  wanted: readonly string[],
  constraints: ReadonlyMap<string, Constraint>,
): boolean {
  if (wanted.every((field, i) => fields[i] === field)) return true;
  const [first, ...rest] = fields;
  if (first === undefined || constraints.get(first)?.eq === undefined) return false;
  return sorts(rest, wanted[0] === first ? wanted.slice(1) : wanted, constraints);
}

function rank(index: MangoIndex, constraints: ReadonlyMap<string, Constraint>): number {
  const fixed = index.fields.findIndex((field) => constraints.get(field)?.eq === undefined);
  const prefix = fixed === -1 ? index.fields.length : fixed;
  const next = constraints.get(index.fields[prefix] ?? '');
  const bounded = next?.low !== undefined || next?.high !== undefined ? 0.5 : 0;
  return prefix + bounded - index.fields.length / 1_000;
}

/** The part of the index in which all matches lie; what is in it is checked again. */
function rangeOf(
  index: MangoIndex,
  constraints: ReadonlyMap<string, Constraint>,
  reverse: boolean,
): ViewRange {
  const low: unknown[] = [];
  const high: unknown[] = [];
  for (const field of index.fields) {
    const found = constraints.get(field);
    if (found?.eq !== undefined) {
      low.push(found.eq.value);
      high.push(found.eq.value);
      continue;
    }
    if (found?.low !== undefined) low.push(found.low.value);
    if (found?.high !== undefined) high.push(found.high.value);
    break;
  }
  return {
    reverse,
    ...(low.length > 0 ? { from: { key: low } } : {}),
    ...(high.length > 0 ? { to: { key: high, below: true } } : {}),
  };
}

/** The fields that a document must have to meet the selector, with the bounds of their values. */
function constraintsOf(selector: JsonObject): Map<string, Constraint> {
  const found = new Map<string, Constraint>();
  const at = (field: string): Constraint => {
    const known = found.get(field) ?? {};
    found.set(field, known);
    return known;
  };
  const walkField = (field: string, condition: unknown): void => {
    if (!isJsonObject(condition) || Object.keys(condition).length === 0) {
      at(field).eq = { value: condition };
      return;
    }
    for (const [name, value] of Object.entries(condition)) {
      if (!name.startsWith('$')) walkField(`${field}.${name}`, value);
      else constrain(() => at(field), name, value);
    }
  };
  const walk = (part: unknown): void => {
    if (!isJsonObject(part)) return;
    for (const [name, value] of Object.entries(part)) {
      if (name === '$and' && Array.isArray(value)) value.forEach(walk);
      else if (!name.startsWith('$')) walkField(name, value);
    }
  };
  walk(selector);
  return found;
}

function constrain(get: () => Constraint, operator: string, value: unknown): void {
  switch (operator) {
    case '$eq':
      get().eq = { value };
      return;
    case '$gt':
    case '$gte': {
      const found = get();
      if (found.low === undefined || compareKeys(value, found.low.value) > 0) found.low = { value };
      return;
    }
    case '$lt':
    case '$lte': {
      const found = get();
      if (found.high === undefined || compareKeys(value, found.high.value) < 0)
        found.high = { value };
      return;
    }
    case '$exists':
      if (value === true) get();
      return;
    case '$and':
    case '$or':
    case '$nor':
    case '$not':
      return;
    default:
      get();
  }
}
