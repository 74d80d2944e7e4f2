import { CouchError, refuse } from './couch-error.js';

/** The parameters of a request's URL, read the way CouchDB reads them. */
export type RequestQuery = {
  has(name: string): boolean;
  /** The text as it stands, percent-decoded. */
  text(name: string): string | undefined;
  /** The first of the names that is given, as JSON; undefined when none is. */
  json(...names: readonly string[]): unknown;
  flag(name: string): boolean | undefined;
  /** A number from 0 up. */
  count(name: string): number | undefined;
  /** All parameters, for functions that receive the request. */
  all(): Record<string, string>;
};

/** @throws CouchError 400 from the getters, for values that are not what they should be. */
export function parseQuery(search: string): RequestQuery {
  const parameters = new URLSearchParams(search);
  const text = (name: string): string | undefined => parameters.get(name) ?? undefined;
  return {
    has: (name) => parameters.has(name),
    text,
    json: (...names) => {
      const given = names.map(text).find((value) => value !== undefined);
      return given === undefined ? undefined : parseJson(given);
    },
    flag: (name) => {
      const value = text(name);
      return value === undefined ? undefined : asFlag(value);
    },
    count: (name) => {
      const value = text(name);
      return value === undefined ? undefined : asCount(value);
    },
    all: () => Object.fromEntries(parameters),
  };
}

/** Reads parameters out of a JSON object (a POST body) with the same rules as out of a URL. */
export function queryFromBody(body: Readonly<Record<string, unknown>>): RequestQuery {
  const value = (name: string): unknown => (Object.hasOwn(body, name) ? body[name] : undefined);
  return {
    has: (name) => value(name) !== undefined,
    text: (name) => {
      const given = value(name);
      return given === undefined
        ? undefined
        : typeof given === 'string'
          ? given
          : JSON.stringify(given);
    },
    json: (...names) => names.map(value).find((given) => given !== undefined),
    flag: (name) => {
      const given = value(name);
      return given === undefined ? undefined : asFlag(bare(given));
    },
    count: (name) => {
      const given = value(name);
      return given === undefined ? undefined : asCount(bare(given));
    },
    all: () =>
      Object.fromEntries(
        Object.entries(body).map(([name, given]) => [
          name,
          typeof given === 'string' ? given : JSON.stringify(given),
        ]),
      ),
  };
}

/** A query that looks into `first`, then into `second`. */
export const eitherQuery = (first: RequestQuery, second: RequestQuery): RequestQuery => ({
  has: (name) => first.has(name) || second.has(name),
  text: (name) => first.text(name) ?? second.text(name),
  json: (...names) => {
    const given = first.json(...names);
    return given === undefined ? second.json(...names) : given;
  },
  flag: (name) => first.flag(name) ?? second.flag(name),
  count: (name) => first.count(name) ?? second.count(name),
  all: () => ({ ...second.all(), ...first.all() }),
});

/** @throws CouchError 400 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refuse.badRequest('invalid UTF-8 JSON');
  }
}

const bare = (given: unknown): string =>
  typeof given === 'string' ? given : JSON.stringify(given);

function asFlag(value: string): boolean {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw refuse.queryParse(`Invalid boolean parameter: ${JSON.stringify(value)}`);
}

function asCount(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  if (/^-\d{1,15}$/.test(value)) {
    throw refuse.queryParse(`Invalid value for positive integer: ${JSON.stringify(value)}`);
  }
  throw new CouchError(
    400,
    'query_parse_error',
    `Invalid value for integer: ${JSON.stringify(value)}`,
  );
}
