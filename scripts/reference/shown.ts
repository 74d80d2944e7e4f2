import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

/** A test below a comment `// Shows .`: the file, its title, and the rows that it shows. */
export type Shown = {
  readonly file: string;
  readonly title: string;
  readonly rows: readonly string[];
};

const mark = /^([ \t]*)\/\/ Shows ([A-Z]-\d\d(?:, [A-Z]-\d\d)*)\.$/gm;

/** All tests that show rows of the features, by file. @param root the repository */
export async function shownBelow(root: string): Promise<readonly Shown[]> {
  const entries = await readdir(join(root, 'test'), { recursive: true }).catch(() => []);
  // A contract is run by the tests of each implementation.
  const files = entries.filter((entry) => /\.test\.ts$|contract\.ts$/.test(entry)).toSorted();
  const found = await Promise.all(
    files.map(async (file) => shownIn(file, await readFile(join(root, 'test', file), 'utf8'))),
  );
  return found.flat();
}

/** Those of a file. A comment that stands above no test has the title `""`. */
export function shownIn(file: string, text: string): readonly Shown[] {
  return [...text.matchAll(mark)].map((found) => {
    const [line, indent = '', rows = ''] = found;
    const below = text.slice(found.index + line.length + 1);
    // Prettier ends the statement at the indentation where it begins.
    const [statement = ''] = below.split(new RegExp(`(?<=\\n${indent}\\S*\\);\\n)`));
    return { file, title: titleOf(statement), rows: rows.split(', ') };
  });
}

/** The title of the test that a statement declares; empty when it declares none. */
function titleOf(text: string): string {
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest);
  const [statement] = source.statements;
  if (statement === undefined || !ts.isExpressionStatement(statement)) return '';
  const call = statement.expression;
  if (!ts.isCallExpression(call) || !['it', 'test'].includes(calledBy(call))) return '';
  const [title] = call.arguments;
  if (title === undefined) return '';
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : '';
}

/** `it.each(…)(…)` -> `it` */
function calledBy(call: ts.Expression): string {
  if (ts.isCallExpression(call) || ts.isPropertyAccessExpression(call)) {
    return calledBy(call.expression);
  }
  if (ts.isTaggedTemplateExpression(call)) return calledBy(call.tag);
  return ts.isIdentifier(call) ? call.text : '';
}
