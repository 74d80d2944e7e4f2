import { readFileSync } from 'node:fs';
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
  const at = url.indexOf(product);
  if (at < 0 || !url.endsWith('.js')) return next(url, context);
  const file = url.slice(at + product.length).replace(/\.js$/, '.ts');
  const source = counting(readFileSync(fileURLToPath(url), 'utf8'), file);
  return { format: 'module', source, shortCircuit: true };
}

function counting(text: string, file: string): string {
  const module = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isFunctionLike(node) ? nameOf(node) : undefined;
    if (name !== undefined && 'body' in node && node.body !== undefined) {
      const count = `countCall(${JSON.stringify(file)},${JSON.stringify(name)})`;
      const body = node.body as ts.Node;
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
