import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Where the built modules of the product stand in a checkout. */
const product = '/dist/src/';

type Loaded = { readonly format: string; readonly source: string; readonly shortCircuit: true };

/** A hook of Node: gives each named function of a module of the product a first line that counts its calls. */
export async function load<Answer>(
  url: string,
  context: unknown,
  next: (url: string, context: unknown) => Promise<Answer>,
): Promise<Answer | Loaded> {
  const built = url.includes(product) ? fileURLToPath(url) : '';
  // A file without a map has no code of its own.
  if (!existsSync(`${built}.map`)) return next(url, context);
  const source = counting(readFileSync(built, 'utf8'), sourcesOf(built));
  return { format: 'module', source, shortCircuit: true };
}

/**
 * Tells which source file a line of a built file comes from; a built file may hold several. Undefined:
 * the line is of a package that is built in.
 */
function sourcesOf(built: string): (line: number, column: number) => string | undefined {
  const map = new SourceMap(JSON.parse(readFileSync(`${built}.map`, 'utf8')) as SourceMapPayload);
  return (line, column) => {
    const entry = map.findEntry(line, column);
    const source = 'originalSource' in entry ? entry.originalSource : built;
    if (source.includes('node_modules/')) return undefined;
    return source.slice(source.lastIndexOf('src/') + 'src/'.length);
  };
}

function counting(text: string, sourceAt: ReturnType<typeof sourcesOf>): string {
  const module = ts.createSourceFile('', text, ts.ScriptTarget.Latest, true);
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isFunctionLike(node) ? nameOf(node) : undefined;
    if (name !== undefined && 'body' in node && node.body !== undefined) {
      const body = node.body as ts.Node;
      const { line, character } = module.getLineAndCharacterOfPosition(body.getStart());
      const file = sourceAt(line, character);
      if (file === undefined) return ts.forEachChild(node, visit);
      const count = `countCall(${JSON.stringify(file)},${JSON.stringify(name)})`;
      if (ts.isBlock(body)) inserts.push({ at: body.getStart() + 1, text: `${count};` });
      else {
        inserts.push({ at: body.getStart(), text: `(${count},` });
        inserts.push({ at: body.getEnd(), text: ')' });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(module);
  inserts.sort((a, b) => b.at - a.at);
  return inserts.reduce((all, { at, text: add }) => all.slice(0, at) + add + all.slice(at), text);
}

/** What a function is called: by its own name, or by what it is assigned to. */
function nameOf(node: ts.SignatureDeclaration): string | undefined {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  const isAssigned =
    ts.isVariableDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent);
  return isAssigned ? parent.name.getText() : undefined;
}
