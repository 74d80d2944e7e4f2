import { isJsonObject, type JsonObject } from '../http/body.js';
import { CouchError } from '../http/couch-error.js';
import type { Sort } from './plan.js';

const DEFAULT_LIMIT = 25;

/** A Mango query as the request asks for it, checked. */
export type FindRequest = {
  readonly selector: JsonObject;
  readonly limit: number;
  readonly skip: number;
  readonly sort: Sort;
  readonly fields: readonly string[] | undefined;
  readonly useIndex: readonly string[];
  readonly allowFallback: boolean;
  readonly bookmark: Position | undefined;
  readonly update: boolean;
  readonly conflicts: boolean;
  readonly stats: boolean;
};

/** The row of the index that an earlier answer ended with. */
export type Position = { readonly key: unknown; readonly id: string };

/** Reads the body of `_find` and `_explain`. @throws CouchError 400 */
export function parseFind(body: JsonObject): FindRequest {
  const { selector, limit = DEFAULT_LIMIT, skip = 0, fields, bookmark } = body;
  if (selector === undefined) {
    throw new CouchError(400, 'missing_required_key', 'Missing required key: selector');
  }
  if (!isJsonObject(selector)) {
    throw new CouchError(400, 'invalid_selector_json', 'Selector must be a JSON object');
  }
  return {
    selector,
    limit: wholeNumber('limit', limit),
    skip: wholeNumber('skip', skip),
    sort: parseSort(body['sort']),
    fields: parseFields(fields),
    useIndex: [body['use_index'] ?? []].flat().filter((name) => typeof name === 'string'),
    allowFallback: body['allow_fallback'] !== false,
    bookmark: parseBookmark(bookmark),
    update: body['update'] !== false && body['update'] !== 'false',
    conflicts: body['conflicts'] === true,
    stats: body['execution_stats'] === true,
  };
}

function wholeNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new CouchError(
    400,
    'invalid_non_neg_integer',
    `Invalid non-negative integer for ${name}: ${JSON.stringify(value)}`,
  );
}

function parseSort(value: unknown): Sort {
  if (value === undefined) return { fields: [], descending: false };
  if (!Array.isArray(value)) throw invalidSort(value);
  const entries = (value as unknown[]).map((each): [string, unknown] => {
    if (typeof each === 'string') return [each, 'asc'];
    const [entry, ...more] = isJsonObject(each) ? Object.entries(each) : [];
    if (entry === undefined || more.length > 0) throw invalidSort(each, 'invalid_sort_field');
    return entry;
  });
  const directions = new Set(entries.map(([, direction]) => direction));
  for (const direction of directions) {
    if (direction !== 'asc' && direction !== 'desc') {
      throw invalidSort(value, 'invalid_sort_field');
    }
  }
  if (directions.size > 1) {
    throw new CouchError(
      400,
      'unsupported_mixed_sort',
      'Sorts currently only support a single direction for all fields.',
    );
  }
  return { fields: entries.map(([field]) => field), descending: directions.has('desc') };
}

const invalidSort = (value: unknown, error = 'invalid_sort_json'): CouchError =>
  new CouchError(400, error, `Invalid sort: ${JSON.stringify(value)}`);

function parseFields(value: unknown): string[] | undefined {
  if (value === undefined || value === 'all_fields') return undefined;
  if (!Array.isArray(value) || !value.every((field) => typeof field === 'string')) {
    throw new CouchError(400, 'invalid_fields_json', 'Fields must be an array of strings');
  }
  return value.length === 0 ? undefined : value;
}

function parseBookmark(value: unknown): Position | undefined {
  if (value === undefined || value === null || value === '' || value === 'nil') return undefined;
  try {
    const text = Buffer.from(String(value as string), 'base64url').toString('utf8');
    const [key, id] = JSON.parse(text) as [unknown, unknown];
    if (typeof id === 'string') return { key, id };
  } catch {
    // Falls through to the refusal.
  }
  throw new CouchError(400, 'invalid_bookmark', `Invalid bookmark value: ${JSON.stringify(value)}`);
}

/** A position as clients get it, to be handed back. */
export const formatBookmark = (position: Position | undefined): string =>
  position === undefined
    ? 'nil'
    : Buffer.from(JSON.stringify([position.key, position.id])).toString('base64url');
