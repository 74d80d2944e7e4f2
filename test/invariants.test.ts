import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

function filesIn(folder: string, isWanted: (name: string) => boolean): readonly string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter(isWanted).map((name) => join(root, folder, name));
}

/** Numbers that the comments of a file declare, one at the beginning of a line: ` * D1 The intent …`. */
function declaredIn(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').matchAll(/^ *\* ([A-Z]\d+) /gm);
  return [...lines].map(([, number]) => number as string);
}

/** Numbers before the title of a test or a group of tests: `D1: …` or `F1, F2: …`. */
function citedIn(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const cited: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:it|test|describe)\b/.test(node.getText(source))) {
      const title = node.arguments[0]?.getText(source) ?? '';
      const [, numbers = ''] = /^['"`]((?:[A-Z]\d+(?:, )?)+): /.exec(title) ?? [];
      cited.push(...numbers.split(', '));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return cited;
}

const declared = filesIn('src', (name) => /\.tsx?$/.test(name)).flatMap(declaredIn);
const cited = new Set(filesIn('test', (name) => /\.test\.ts$/.test(name)).flatMap(citedIn));

it('no two invariants have the same number', () => {
  expect(declared.length).toBeGreaterThan(80);
  expect(declared.filter((number, i) => declared.indexOf(number) !== i)).toEqual([]);
});

it('every invariant is named by a test that holds it', () => {
  expect(declared.filter((number) => !cited.has(number))).toEqual([]);
});

it('tests name no invariant that there is not', () => {
  const all = new Set(['', ...declared]);
  expect([...cited].filter((number) => !all.has(number))).toEqual([]);
});
