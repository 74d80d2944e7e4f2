/*
 * Builds the documentation that tws serves: docs/ and the pages beside the sources, by VitePress, into dist/docs.
 * The pages are laid out in dist/.site first, as VitePress wants them: one folder, with links within it.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stage = join(root, 'dist', '.site');

/** `docs/guides/cli.md` -> `guides/cli.md`, `src/plugin/README.md` -> `inside/plugin.md`; undefined: no page. */
function placeOf(path) {
  if (path.startsWith('docs/')) return path.slice('docs/'.length);
  const part = /^src\/([\w-]+)\/README\.md$/.exec(path)?.[1];
  if (part !== undefined) return `inside/${part}.md`;
  // Linked sources are shown as they are.
  return /^(couch|plugins)\/.*\.\w+$/.test(path) ? `files/${path}.txt` : undefined;
}

/** The same page with its links leading within the site. @throws Error for a link that leaves it */
function moved(text, path) {
  return text.replace(/(\]\()(?!\w+:|#)([^)#\s]+)/g, (_all, before, link) => {
    const target = posix.join(posix.dirname(path), link);
    const place = placeOf(target);
    if (place === undefined)
      throw new Error(`${path} links to ${link}, which is not documentation.`);
    if (place.startsWith('files/')) copy(target, join(stage, 'public', place));
    const way = posix.relative(posix.dirname(placeOf(path)), place);
    return before + (way.startsWith('.') ? way : `./${way}`);
  });
}

function copy(path, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(root, path), to);
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

rmSync(stage, { recursive: true, force: true });
const inside = filesBelow('src').filter((path) => placeOf(path) !== undefined);
for (const path of [...filesBelow('docs'), ...inside]) {
  const place = placeOf(path);
  const to = join(stage, place);
  copy(path, to);
  if (path.endsWith('.md')) writeFileSync(to, moved(readFileSync(to, 'utf8'), path));
  // Files that pages link to are served as they are; pictures become part of the build.
  else if (!path.endsWith('.png')) copy(path, join(stage, 'public', place));
}
cpSync(join(root, '.config', 'vitepress'), join(stage, '.vitepress'), { recursive: true });
await build(stage, { outDir: join(root, 'dist', 'docs') });
