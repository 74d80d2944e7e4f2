import { createHash } from 'node:crypto';

import { callGuard, isShippedGuard } from '../functions/native-guard.js';
import type { FunctionPool } from '../functions/pool.js';
import type { Program, ProgramFailure, ProgramKind, RunResult } from '../functions/program.js';
import { isJsonObject, type JsonObject } from '../http/body.js';
import { CouchError, refuse } from '../http/couch-error.js';
import { compileSelector, fieldPath, valueAtPath } from '../mango/selector.js';
import type { Doc } from '../storage/storage.js';

/** One view: `slot` is its place among the map functions of its design document. */
export type DesignView = { readonly slot: number; readonly reduce: string | undefined };

/** What each map function emitted for one document, in the order of the slots. */
export type Emitted = readonly (readonly (readonly [key: unknown, value: unknown])[])[];

/** A design document ready to work with. */
export type Design = {
  readonly doc: Doc;
  readonly views: ReadonlyMap<string, DesignView>;
  /** Names the index of the views: same sources, same index. */
  readonly signature: string;
  /** `options.include_design`: design documents go through the map functions too. */
  readonly includeDesign: boolean;
  map(docs: readonly Doc[]): Promise<Emitted[]>;
  /** One value per call. */
  reduce(source: string, calls: readonly string[]): Promise<unknown[]>;
  /** One outcome per call (`[new, old, user, security]`): undefined, or the refusal. */
  validate(calls: readonly string[]): Promise<(CouchError | undefined)[]>;
  readonly validates: boolean;
  /** Whether each document passes, by `filters.<name>` or, for a view, whether it emits anything. */
  filter(
    name: string,
    kind: 'filter' | 'view_filter',
    docs: readonly Doc[],
    request: unknown,
  ): Promise<boolean[]>;
};

/** Prepares a stored design document. Nothing is run here. */
export function openDesign(doc: Doc, pool: FunctionPool): Design {
  const views = viewsOf(doc);
  const maps = [...views.values()].map(({ map }) => map);
  const run = createRunner(doc, pool);
  return {
    doc,
    views: new Map([...views].map(([name, { slot, reduce }]) => [name, { slot, reduce }])),
    signature: hash(['index', doc['language'], maps, libraryOf(doc), doc['options']]),
    includeDesign: isJsonObject(doc['options']) && doc['options']['include_design'] === true,
    validates: typeof doc['validate_doc_update'] === 'string',
    map: async (docs) => {
      if (doc['language'] === 'query') return docs.map((each) => emitFields(maps, each));
      const results = await run('map', maps.map(String), docs.map(toJson));
      return results.map((result) => ('ok' in result ? (JSON.parse(result.ok) as Emitted) : []));
    },
    reduce: async (source, calls) => {
      const results = await run('reduce', [source], calls);
      return results.map((result) => {
        if ('ok' in result) return JSON.parse(result.ok) as unknown;
        throw new CouchError(500, 'reduce_error', result.threw.message);
      });
    },
    validate: async (calls) => {
      const source = String(doc['validate_doc_update']);
      const results = isShippedGuard(source)
        ? calls.map(callGuard)
        : await run('validate', [source], calls);
      return results.map(asRefusal);
    },
    filter: async (name, kind, docs, request) => {
      const calls = docs.map((each) =>
        kind === 'filter' ? JSON.stringify([each, request]) : toJson(each),
      );
      const results = await run(kind, [filterSource(doc, views, name, kind)], calls);
      return results.map((result) => {
        if ('ok' in result) return result.ok === 'true';
        throw new CouchError(500, result.threw.name, result.threw.message);
      });
    },
  };
}

type Runner = (
  kind: ProgramKind,
  sources: readonly string[],
  calls: readonly string[],
) => Promise<RunResult['results']>;

/** Runs programs of one design document revision, and none of them again once one failed. */
function createRunner(doc: Doc, pool: FunctionPool): Runner {
  const aside = new Map<string, CouchError>();
  const programs: Program[] = [];
  const find = (kind: ProgramKind, sources: readonly string[]): Program => {
    const known = programs.find((one) => one.kind === kind && isSame(one.sources, sources));
    if (known !== undefined) return known;
    const made = programOf(doc, kind, sources);
    programs.push(made);
    return made;
  };
  return async (kind, sources, calls) => {
    if (calls.length === 0) return [];
    const program = find(kind, sources);
    const known = aside.get(program.key);
    if (known !== undefined) throw known;
    const { results, failure } = await pool.run(program, calls);
    if (failure === undefined) return results;
    const error = failureOf(doc, kind, failure);
    if (failure.kind !== 'crash') aside.set(program.key, error);
    throw error;
  };
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((text, i) => text === others[i]);

function failureOf(doc: Doc, kind: ProgramKind, failure: ProgramFailure): CouchError {
  if (failure.kind === 'compile') return new CouchError(500, 'compilation_error', failure.message);
  const error = failure.kind === 'timeout' ? 'timeout' : 'os_process_error';
  return new CouchError(500, error, `A ${kind} function of ${doc._id} failed: ${failure.message}.`);
}

/** Compiles every function of a design document that is about to be stored. @throws CouchError 400 */
export async function checkDesign(doc: Doc, pool: FunctionPool): Promise<void> {
  const views = viewsOf(doc);
  if (doc['language'] !== undefined && doc['language'] !== 'javascript') return;
  const sources: [what: string, kind: ProgramKind, source: unknown][] = [];
  for (const [name, { map, reduce }] of views) {
    sources.push([`the 'map' property of view ${name}`, 'map', map]);
    if (reduce !== undefined && !reduce.startsWith('_')) {
      sources.push([`the 'reduce' property of view ${name}`, 'reduce', reduce]);
    }
  }
  const filters = isJsonObject(doc['filters']) ? doc['filters'] : {};
  for (const [name, source] of Object.entries(filters)) {
    sources.push([`filter ${name}`, 'filter', source]);
  }
  if (doc['validate_doc_update'] !== undefined) {
    sources.push(['validate_doc_update', 'validate', doc['validate_doc_update']]);
  }
  await Promise.all(
    sources.map(async ([what, kind, source]) => {
      if (typeof source !== 'string') throw invalidDesign(`${what} must be a string`);
      const { failure } = await pool.run(programOf(doc, kind, [source]), []);
      if (failure === undefined) return;
      throw new CouchError(
        400,
        'compilation_error',
        `Compilation of ${what} failed: ${failure.message}`,
      );
    }),
  );
}

const BUILT_IN = ['_count', '_sum', '_stats', '_approx_count_distinct'];

type RawView = {
  readonly slot: number;
  readonly map: unknown;
  readonly reduce: string | undefined;
};

/** The views in the order of their names, `lib` apart. @throws CouchError 400 for what is no view */
function viewsOf(doc: Doc): Map<string, RawView> {
  const { views = {} } = doc;
  if (!isJsonObject(views)) throw invalidDesign('`views` must be a JSON object');
  const found = new Map<string, RawView>();
  for (const name of Object.keys(views).sort()) {
    if (name === 'lib') continue;
    const view = views[name];
    if (!isJsonObject(view)) throw invalidDesign(`view ${name} must be a JSON object`);
    const { map, reduce } = view;
    if (map === undefined) continue;
    if (reduce !== undefined && typeof reduce !== 'string') {
      throw invalidDesign(`the 'reduce' property of view ${name} must be a string`);
    }
    if (reduce?.startsWith('_') && !BUILT_IN.includes(reduce)) {
      throw invalidDesign(`${reduce} is not a supported reduce function.`);
    }
    found.set(name, { slot: found.size, map, reduce: reduce === '' ? undefined : reduce });
  }
  return found;
}

const invalidDesign = (reason: string): CouchError =>
  new CouchError(400, 'invalid_design_doc', reason);

function filterSource(
  doc: Doc,
  views: ReadonlyMap<string, RawView>,
  name: string,
  kind: 'filter' | 'view_filter',
): string {
  const filters = isJsonObject(doc['filters']) ? doc['filters'] : {};
  const source = kind === 'filter' ? filters[name] : views.get(name)?.map;
  if (typeof source !== 'string') throw refuse.missing(`missing json key: ${name}`);
  return source;
}

function programOf(doc: Doc, kind: ProgramKind, sources: readonly string[]): Program {
  const asks = sources.some((source) => source.includes('require'));
  const modules = asks ? toJson(doc) : undefined;
  return {
    key: hash([kind, sources, modules]),
    kind,
    sources,
    ...(modules === undefined ? {} : { modules }),
  };
}

const libraryOf = (doc: Doc): unknown =>
  isJsonObject(doc['views']) ? doc['views']['lib'] : undefined;

const toJson = (doc: Doc): string => JSON.stringify(doc);

const hash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

function asRefusal(result: RunResult['results'][number]): CouchError | undefined {
  if ('threw' in result) return new CouchError(500, result.threw.name, result.threw.message);
  const verdict = JSON.parse(result.ok) as JsonObject | null;
  if (verdict === null) return undefined;
  return 'forbidden' in verdict
    ? refuse.forbidden(asText(verdict['forbidden']))
    : refuse.unauthorized(asText(verdict['unauthorized']));
}

const asText = (reason: unknown): string =>
  typeof reason === 'string' ? reason : JSON.stringify(reason ?? null);

/** A Mango index: the values of its fields, for documents that have them all. */
function emitFields(maps: readonly unknown[], doc: Doc): Emitted {
  return maps.map((map) => {
    if (!isJsonObject(map) || !isJsonObject(map['fields'])) return [];
    const { partial_filter_selector: only } = map;
    if (isJsonObject(only) && !compileSelector(only)(doc)) return [];
    const values = Object.keys(map['fields']).map((name) => valueAtPath(doc, fieldPath(name)));
    return values.includes(undefined) ? [] : [[values, null] as const];
  });
}
