/* Whether dist/ is as new as everything it is made of, told from times of change alone. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sources = [
  ...['src', 'plugins', 'bench', 'bin', 'scripts'],
  ...['tsconfig.json', '.tsconfig.build.json', '.config/vite.config.js'],
  '.config/rolldown.config.js',
];

const stampOf = (root) => join(root, 'dist', '.built');

/** Notes that what was there at `began` (a Date) is built. */
export function sayBuilt(root, began) {
  writeFileSync(stampOf(root), '');
  utimesSync(stampOf(root), began, began);
}

/** False when something is newer than the last build, or when there was none. */
export function isBuilt(root) {
  const built = statSync(stampOf(root), { throwIfNoEntry: false })?.mtimeMs;
  return built !== undefined && sources.every((name) => newest(join(root, name)) <= built);
}

/** The last change at or below a path, folders included: a file that is gone changes its folder. */
function newest(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  const below = found.isDirectory()
    ? readdirSync(path).map((name) => newest(join(path, name)))
    : [];
  return Math.max(found.mtimeMs, ...below);
}
