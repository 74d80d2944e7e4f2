import { readFile } from 'node:fs/promises';
import module, { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { types } from 'node:util';
import { compileFunction } from 'node:vm';
import { beginEdition, urlOf } from './editions.js';
import { shapeOf, type Shape } from './shape.js';

/** A module that waits at its top level for longer than this counts as broken. */
const longestImportMs = 15_000;

/**
 * Loads a plugin's file (absolute, no symbolic link) and tells what it is. Rejects with whatever
 * the module throws. CommonJS is required rather than imported, because only then
 * `module.exports` arrives as it is. `edition`: the file, and what it imports of the project, is
 * loaded anew unless that edition of it was loaded before.
 */
export async function importPlugin(path: string, edition?: string): Promise<Shape> {
  if (edition !== undefined) beginEdition();
  const text = await readFile(path, 'utf8');
  if (text.includes('//# sourceMappingURL=')) readSourceMaps();
  const imported = (): Promise<Exports> => importWithin(urlOf(path, edition), longestImportMs);
  if (!(await isCommonJs(path))) return shapeOf(await imported(), false);
  // `require` would answer with the ES module that it loaded first, whatever the file holds now.
  const isAnew = edition !== undefined;
  if (isAnew && extname(path) === '.js' && !isScript(text)) return shapeOf(await imported(), false);
  const exported = requireOrNot(path);
  if (exported === asModule) return shapeOf(await imported(), false);
  if (!types.isModuleNamespaceObject(exported)) return shapeOf({ default: exported }, true);
  return shapeOf(isAnew ? await imported() : (exported as Exports), false);
}

/** Whether a text can be compiled as CommonJS: what Node asks of a `.js` file without a `type`. */
function isScript(text: string): boolean {
  try {
    compileFunction(text.replace(/^#!.*/, ''), [
      ...['exports', 'require', 'module', '__filename', '__dirname'],
    ]);
    return true;
  } catch {
    return false;
  }
}

type SetSupport = (isOn: boolean, options: { readonly nodeModules: boolean }) => void;

/**
 * Has failures name the line of the source that a plugin was compiled from. Only asked for by plugins that
 * have a source map: stacks cost more from then on.
 */
function readSourceMaps(): void {
  const { setSourceMapsSupport } = module as { setSourceMapsSupport?: SetSupport };
  if (setSourceMapsSupport === undefined) process.setSourceMapsEnabled(true);
  else setSourceMapsSupport(true, { nodeModules: false });
}

type Exports = Readonly<Record<string, unknown>>;
const asModule = Symbol('an ES module');

/** Node's own rule: the extension, else the `type` of the nearest package.json. */
async function isCommonJs(path: string): Promise<boolean> {
  const extension = extname(path);
  if (!['.js', '.ts'].includes(extension)) return ['.cjs', '.cts'].includes(extension);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { type?: string }).type !== 'module';
    if (folder === dirname(folder)) return true;
  }
}

/** In a project without a `type`, `export` in a `.js` file is understood all the same. */
function requireOrNot(path: string): unknown {
  try {
    return createRequire(path)(path) as unknown;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const syntax = error instanceof SyntaxError && /\b(?:import|export)\b/.test(error.message);
    if (code === 'ERR_REQUIRE_ESM' || code === 'ERR_REQUIRE_ASYNC_MODULE' || syntax) {
      return asModule;
    }
    throw error;
  }
}

async function importWithin(url: string, ms: number): Promise<Exports> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${ms} ms.`)), ms);
  });
  try {
    const loading = import(/* @vite-ignore */ url) as Promise<Exports>;
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}
