import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');

/** What each file of src imports from there, types included. */
function importsOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files);
  const imports = (file: string): readonly string[] =>
    ts
      .preProcessFile(readFileSync(file, 'utf8'))
      .importedFiles.map(({ fileName }) => join(dirname(file), fileName).replace(/\.js$/, ''))
      .flatMap((stem) => [`${stem}.ts`, `${stem}.tsx`].find((one) => known.has(one)) ?? []);
  return new Map(files.map((file) => [file, imports(file)]));
}

/** One circle of imports, file by file; undefined: there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next, [...path, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle.map((one) => relative(root, one));
  }
  return undefined;
}

it('finds a circle of imports', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', []],
    ['d', ['b']],
  ]);
  expect(circleIn(imports)).toHaveLength(3);
});

it('finds none in src', () => {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(root, name));
  expect(files.length).toBeGreaterThan(500);
  expect(circleIn(importsOf(files))).toBeUndefined();
});
