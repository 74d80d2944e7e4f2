import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { packageRoot } from '../../src/package.js';

export const root = packageRoot();

/** A fenced block of a page. */
export type Block = {
  readonly page: string;
  /** Line of the page on which it begins, from 1. */
  readonly line: number;
  readonly lang: string;
  /** What stands behind the language: `no-run`. */
  readonly note: string;
  readonly text: string;
};

/** The README and all pages of `docs` that people write, by their paths. */
export const pages: readonly string[] = ['README.md', ...markdownBelow('docs')];

/** The text of a file of the repository. */
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The fenced blocks of a page, in order; those in lists without their indent. */
export function blocksOf(page: string): readonly Block[] {
  const text = textOf(page);
  const found = text.matchAll(/^( *)```(\S+)(?: ([^\n]*))?\n([^]*?)\n\1```$/gm);
  return [...found].map(({ index, 1: indent = '', 2: lang = '', 3: note = '', 4: body = '' }) => ({
    ...{ page, lang, note, line: text.slice(0, index).split('\n').length },
    text: body.replaceAll(`\n${indent}`, '\n').slice(indent.length),
  }));
}

/** All blocks of a language. */
export const blocksIn = (lang: string): readonly Block[] =>
  pages.flatMap(blocksOf).filter((block) => block.lang === lang);

function markdownBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep).join('/'))
    .filter((path) => !path.startsWith('docs/reference/'))
    .toSorted();
}
