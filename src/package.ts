import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package, wherever its code was built to. */
export function packageRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  return existsSync(join(from, 'package.json')) ? from : packageRoot(dirname(from));
}

/**
 * A module of `src` as a file that Node runs: threads and processes run what the last build made, also
 * where their caller runs from its sources.
 * @param path below `src`, without an extension
 */
export function builtModule(path: string): string {
  return join(packageRoot(), 'dist', 'src', `${path}.js`);
}

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The executable of this package. */
export function executable(): string {
  return join(packageRoot(), 'bin', 'tws.js');
}
