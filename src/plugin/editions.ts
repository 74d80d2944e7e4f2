import module from 'node:module';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onOwnBehalf } from './attribution.js';

/*
 * Node keeps every module it has loaded, and loads a URL once. An edition of a plugin is therefore a URL
 * of its own, `file:///…/hello.mjs?edition=4f1c…`, and what it imports of the project gets the same
 * addition, so that a change in there counts as well. Earlier editions stay in memory as long as the
 * process runs; the edition is made of the content, so that the same content is not loaded twice.
 */

const parameter = 'edition';

/** The URL of a file, or of an edition of it. */
export function urlOf(path: string, edition: string | undefined): string {
  const url = pathToFileURL(path);
  if (edition !== undefined) url.searchParams.set(parameter, edition);
  return url.href;
}

let areHooked = false;

/** Has the next imports of editions load files anew. */
export function beginEdition(): void {
  // Its thread stays, and is no plugin's.
  if (!areHooked) onOwnBehalf(addHooks);
  areHooked = true;
  forgetRequired();
}

/** CommonJS modules of the project are forgotten; those of packages stay. */
function forgetRequired(): void {
  const { cache } = module.createRequire(import.meta.url);
  for (const file of Object.keys(cache)) {
    if (!file.split(sep).includes('node_modules')) Reflect.deleteProperty(cache, file);
  }
}

type Resolved = { readonly url: string };
type Context = { readonly parentURL?: string };
type SyncHooks = {
  readonly resolve: (
    specifier: string,
    context: Context,
    next: (specifier: string, context: Context) => Resolved,
  ) => Resolved;
};

/** In this thread where Node can do so (22.15, 23.5), else in one of Node's own. */
function addHooks(): void {
  const { registerHooks } = module as { registerHooks?: (hooks: SyncHooks) => unknown };
  if (registerHooks === undefined) {
    const source = `${passEdition.toString()}
      export const resolve = async (specifier, context, next) =>
        passEdition(await next(specifier, context), context.parentURL, ${JSON.stringify(parameter)});`;
    module.register(`data:text/javascript,${encodeURIComponent(source)}`);
    return;
  }
  registerHooks({
    resolve: (specifier, context, next) =>
      passEdition(next(specifier, context), context.parentURL, parameter),
  });
}

/** Used as text as well: it may know nothing but its parameters. */
function passEdition<R extends Resolved>(
  resolved: R,
  parent: string | undefined,
  parameter: string,
): R {
  if (parent === undefined || !resolved.url.startsWith('file:')) return resolved;
  const edition = new URL(parent).searchParams.get(parameter);
  if (edition === null || resolved.url.includes('/node_modules/')) return resolved;
  const url = new URL(resolved.url);
  url.searchParams.set(parameter, edition);
  return { ...resolved, url: url.href };
}
