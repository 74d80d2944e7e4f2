import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');

/** The names of `const a = …, { b } = …`. */
function namesIn(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((part) => (ts.isBindingElement(part) ? namesIn(part.name) : []));
}

/** What a statement exports under a name of its own; what it only passes on has its name elsewhere. */
function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause: clause } = statement;
    if (clause === undefined) return [];
    if (ts.isNamespaceExport(clause)) return [clause.name.text];
    return clause.elements.flatMap(({ propertyName, name }) => (propertyName ? [name.text] : []));
  }
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  const has = (kind: ts.SyntaxKind): boolean => modifiers.some((one) => one.kind === kind);
  // Who loads a module for its default has its path, and no name.
  if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name));
  }
  return 'name' in statement ? [(statement as ts.DeclarationStatement).name?.text ?? ''] : [];
}

/** The names that more than one of these texts of files exports, with the files. */
function doublesIn(
  files: ReadonlyMap<string, string>,
): Readonly<Record<string, readonly string[]>> {
  const all = new Map<string, Set<string>>();
  for (const [file, text] of files) {
    for (const statement of ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements) {
      for (const name of namesOf(statement)) all.set(name, (all.get(name) ?? new Set()).add(file));
    }
  }
  const doubles = [...all].filter(([, holders]) => holders.size > 1);
  return Object.fromEntries(doubles.sort().map(([name, holders]) => [name, [...holders].sort()]));
}

/** The files of src, but for those that are left out. */
function textsOf(isMeant: (file: string) => boolean): ReadonlyMap<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => /\.tsx?$/.test(path)).map((path) => join(root, path));
  return new Map(
    files
      .map((file) => [relative(root, file), readFileSync(file, 'utf8')] as const)
      .filter(([file]) => isMeant(file)),
  );
}

/** A command is called what people type: `explain` is one, and a function elsewhere. */
const isCommand = (file: string): boolean => file.startsWith('cli/commands/');

it('finds names that are exported twice', () => {
  const files = new Map([
    ['a.ts', 'export type A = 1; export const { b, c: [d] } = x; export default 1; export { e };'],
    ['b.tsx', 'export function A() {} export type E = 2; export const E = 3; export default 2;'],
    ['c.ts', `export { A, e, x as b } from './a.js'; export * as d from './b.js'; type A = 2;`],
  ]);
  expect(doublesIn(files)).toEqual({
    A: ['a.ts', 'b.tsx'],
    b: ['a.ts', 'c.ts'],
    d: ['a.ts', 'c.ts'],
  });
});

it('finds none in src', () => {
  const files = textsOf((file) => !isCommand(file));
  expect(files.size).toBeGreaterThan(500);
  expect(doublesIn(files)).toEqual({});
  expect(doublesIn(textsOf(isCommand))).toEqual({});
});
