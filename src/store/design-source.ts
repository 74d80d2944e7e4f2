import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of the design document that is ours. */
export type DesignSource = {
  readonly language: 'javascript';
  readonly views: Readonly<Record<string, { readonly map: string }>>;
  readonly filters: Readonly<Record<string, string>>;
  readonly validate_doc_update: string;
};

/** Reads `couch/design`: `views/<name>/map.js`, `filters/<name>.js`, `validate_doc_update.js`. */
export async function readDesign(folder = designFolder()): Promise<DesignSource> {
  const views: Record<string, { readonly map: string }> = {};
  for (const name of await namesIn(join(folder, 'views'))) {
    views[name] = { map: await readFunction(join(folder, 'views', name, 'map.js')) };
  }
  const filters: Record<string, string> = {};
  for (const file of await namesIn(join(folder, 'filters'))) {
    filters[basename(file, '.js')] = await readFunction(join(folder, 'filters', file));
  }
  const validate = await readFunction(join(folder, 'validate_doc_update.js'));
  return { language: 'javascript', views, filters, validate_doc_update: validate };
}

/** The package is where its `package.json` is: two folders up from the source, three from `dist`. */
function designFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, 'couch', 'design');
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.filter((name) => !name.startsWith('.')).sort();
}

async function readFunction(path: string): Promise<string> {
  return toFunctionText(await readFile(path, 'utf8'));
}

/**
 * The files hold a commented, named function, so that editors and formatters can read them; CouchDB
 * is given the bare function without a name.
 */
export function toFunctionText(source: string): string {
  const begin = /^function\s+\w*\s*\(/m.exec(source);
  if (begin === null) throw new Error('A file of the design document holds no function.');
  return `function (${source.slice(begin.index + begin[0].length).trim()}`;
}
