import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { referencePages } from '../../scripts/reference.js';
import { blocksOf, pages, root, textOf } from './pages.js';

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly files: readonly string[];
};

/** Links of a page that lead to files, resolved, with what stands behind `#`. */
function linksOf(page: string): readonly (readonly [string, string])[] {
  const text = textOf(page).replace(/^( *)```[^]*?\n\1```$/gm, '');
  const found = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return found
    .filter((link) => !/^\w+:/.test(link))
    .map((link) => {
      const [path = '', anchor = ''] = link.split('#');
      return [path === '' ? page : posix.join(posix.dirname(page), path), anchor] as const;
    });
}

/** `## What it costs` -> `what-it-costs`, as GitHub and VitePress name it. */
function anchorsOf(path: string): readonly string[] {
  const text = generated.get(path) ?? textOf(path);
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[`.,:()'/]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Pages that the build makes, by their paths. */
const generated = new Map(
  Object.entries(await referencePages(root)).map(([name, text]) => [
    `docs/reference/${name}`,
    text,
  ]),
);

/** What an earlier build left in the folder of the reference does not count. */
const isThere = (path: string): boolean =>
  path.startsWith('docs/reference/') ? generated.has(path) : existsSync(join(root, path));

describe.each(pages)('the links of %s', (page) => {
  it('lead to files that the package holds, and to headings that these have', () => {
    for (const [path, anchor] of linksOf(page)) {
      expect(isThere(path), path).toBe(true);
      const isShipped = files.some((file) => path === file || path.startsWith(`${file}/`));
      expect(isShipped, `${path} is in the package`).toBe(true);
      if (anchor !== '') expect(anchorsOf(path), path).toContain(anchor);
    }
  });
});

it('every page can be reached from the README or the overview', () => {
  const reached = ['README.md', 'docs/index.md'].flatMap(linksOf).map(([path]) => path);
  for (const page of pages) {
    if (page !== 'README.md' && page !== 'docs/index.md') expect(reached).toContain(page);
  }
});

describe('the README', () => {
  const readme = textOf('README.md');

  it('has at most 200 lines and begins with its two commands', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(200);
    const lines = (blocksOf('README.md')[0]?.text ?? '').split('\n');
    const commands = lines.map((line) => line.replace(/ +#.*/, ''));
    expect(commands).toEqual(['npm run quickstart', 'npm test']);
  });

  it('has small pictures', () => {
    const pictures = linksOf('README.md').filter(([path]) => path.endsWith('.png'));
    expect(pictures.length).toBeGreaterThan(0);
    for (const [path] of pictures) expect(statSync(join(root, path)).size).toBeLessThan(200_000);
  });

  it('says in one row each why there are the dependencies of the package', () => {
    const [, table = ''] = readme.split('\n## Dependencies\n');
    const { dependencies, optionalDependencies } = JSON.parse(textOf('package.json')) as Record<
      'dependencies' | 'optionalDependencies',
      Readonly<Record<string, string>>
    >;
    const named = table
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => (line.split('|')[1] ?? '').split(','))
      .map((name) => name.replace(/\(.*\)/, '').trim());
    const isNamed = (name: string): boolean =>
      named.some((one) => one === name || (one.startsWith('-') && name.endsWith(one)));
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      expect(isNamed(name), name).toBe(true);
    }
  });
});

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });

it.each(sources.filter((path) => path.endsWith('README.md')))(
  'src/%s names files that exist',
  (page) => {
    const text = readFileSync(join(root, 'src', page), 'utf8');
    const named = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.tsx?)`/g)].map(([, path = '']) => path);
    const missing = named.filter(
      (path) => !sources.some((file) => `src/${file}`.endsWith(`/${path}`)),
    );
    expect(missing.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  },
);
