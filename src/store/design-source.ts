import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packageRoot } from '../package.js';

/**
 * Our design documents: `design` is `_design/<app>`, which the engines need, `search` is
 * `_design/<app>_search`, a document of its own so that no engine waits for the index of a search, and
 * `guard` is `_design/<app>_guard`, which a database may be without.
 */
export type DesignName = 'design' | 'search' | 'guard';

/** The part of a design document that is ours. */
export type DesignSource = {
  readonly language: 'javascript';
  readonly views: Readonly<Record<string, ViewSource>>;
  readonly filters: Readonly<Record<string, string>>;
  readonly validate_doc_update?: string;
};

/** `reduce`: the name of a function that CouchDB has itself. */
export type ViewSource = { readonly map: string; readonly reduce?: string };

/**
 * Reads `couch/design`, `couch/search` or `couch/guard`: `views/<name>/map.js` and `views/<name>/reduce`,
 * `filters/<name>.js`, `validate_doc_update.js`, as far as they are there.
 */
export async function readDesign(
  name: DesignName = 'design',
  folder = designFolder(name),
): Promise<DesignSource> {
  const views: Record<string, ViewSource> = {};
  for (const view of await namesIn(join(folder, 'views'))) {
    views[view] = await readView(join(folder, 'views', view));
  }
  const filters: Record<string, string> = {};
  for (const file of await namesIn(join(folder, 'filters'))) {
    filters[basename(file, '.js')] = await readFunction(join(folder, 'filters', file));
  }
  const validate = join(folder, 'validate_doc_update.js');
  return {
    language: 'javascript',
    views,
    filters,
    ...(existsSync(validate) ? { validate_doc_update: await readFunction(validate) } : {}),
  };
}

async function readView(folder: string): Promise<ViewSource> {
  const map = await readFunction(join(folder, 'map.js'));
  const reduce = join(folder, 'reduce');
  return existsSync(reduce) ? { map, reduce: (await readFile(reduce, 'utf8')).trim() } : { map };
}

function designFolder(name: DesignName): string {
  return join(packageRoot(), 'couch', name);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const names = await readdir(folder);
  return names.filter((name) => !name.startsWith('.')).sort();
}

async function readFunction(path: string): Promise<string> {
  return toFunctionText(await readFile(path, 'utf8'));
}

/**
 * The files hold a commented, named function, which may be exported, so that editors and formatters can
 * read them; CouchDB is given the bare function without a name.
 */
export function toFunctionText(source: string): string {
  const begin = /^(?:export default )?function\s+\w*\s*\(/m.exec(source);
  if (begin === null) throw new Error('A file of the design document holds no function.');
  return `function (${source.slice(begin.index + begin[0].length).trim()}`;
}
