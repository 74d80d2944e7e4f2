import type { Node } from 'acorn';

/** A node of any type, as a record of its parts. */
type Part = Node & Readonly<Record<string, unknown>>;

/** The names that are declared in a block or function, and around it. */
type Scope = { readonly names: Set<string>; readonly around: Scope | undefined };

/**
 * The names that a piece of code uses and does not declare, each once, in their order: of the globals of
 * JavaScript and Node, and of whatever its module or its sandbox gave it.
 */
export function freeNamesOf(node: Node): readonly string[] {
  const free = new Set<string>();
  visit(node as Part, { names: new Set(), around: undefined }, free);
  return [...free];
}

function visit(node: Part, scope: Scope, free: Set<string>): void {
  switch (node.type) {
    case 'Identifier':
      return use(String(node['name']), scope, free);
    case 'FunctionExpression':
    case 'FunctionDeclaration':
    case 'ArrowFunctionExpression':
      return visitFunction(node, scope, free);
    case 'MemberExpression':
      visit(node['object'] as Part, scope, free);
      if (node['computed'] === true) visit(node['property'] as Part, scope, free);
      return;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      if (node['computed'] === true) visit(node['key'] as Part, scope, free);
      if (isPart(node['value'])) visit(node['value'], scope, free);
      return;
    case 'LabeledStatement':
      return visit(node['body'] as Part, scope, free);
    case 'BreakStatement':
    case 'ContinueStatement':
      return;
    case 'MetaProperty':
      return;
    case 'BlockStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'SwitchStatement':
    case 'CatchClause':
    case 'ClassExpression':
      return visitBlock(node, scope, free);
    default:
      return visitParts(node, scope, free);
  }
}

function visitFunction(node: Part, around: Scope, free: Set<string>): void {
  const { id, params, body, type } = node;
  const scope: Scope = { names: new Set(), around };
  if (type !== 'ArrowFunctionExpression') scope.names.add('arguments');
  if (isPart(id)) declare(id, scope.names);
  for (const param of params as readonly Part[]) declare(param, scope.names);
  hoist(body as Part, scope.names);
  for (const param of params as readonly Part[]) visit(param, scope, free);
  visit(body as Part, scope, free);
}

/** `let`, `const`, classes and functions belong to the block, and the error to its `catch`. */
function visitBlock(node: Part, around: Scope, free: Set<string>): void {
  const scope: Scope = { names: new Set(), around };
  if (isPart(node['param'])) declare(node['param'], scope.names);
  if (node.type === 'ClassExpression' && isPart(node['id'])) declare(node['id'], scope.names);
  const cases = listOf(node['cases']).flatMap((one) => listOf(one['consequent']));
  const statements = [...listOf(node['body']), ...cases, node['init'], node['left']].filter(isPart);
  for (const one of statements) {
    if (one.type === 'VariableDeclaration') declareAll(one, scope.names);
    if (one.type === 'ClassDeclaration' || one.type === 'FunctionDeclaration') {
      declare(one['id'] as Part, scope.names);
    }
  }
  visitParts(node, scope, free);
}

function visitParts(node: Part, scope: Scope, free: Set<string>): void {
  for (const part of partsOf(node)) visit(part, scope, free);
}

/** What `var` and functions of a body declare, wherever they stand in it. */
function hoist(node: Part, names: Set<string>): void {
  if (node.type === 'VariableDeclaration' && node['kind'] === 'var') declareAll(node, names);
  if (node.type === 'FunctionDeclaration') return declare(node['id'] as Part, names);
  if (node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression') return;
  for (const part of partsOf(node)) hoist(part, names);
}

function declareAll(node: Part, names: Set<string>): void {
  for (const one of listOf(node['declarations'])) declare(one['id'] as Part, names);
}

/** The names of a pattern: `a`, `{ b, c: [d] = e, ...f }`. */
function declare(pattern: Part, names: Set<string>): void {
  switch (pattern.type) {
    case 'Identifier':
      names.add(String(pattern['name']));
      return;
    case 'AssignmentPattern':
      return declare(pattern['left'] as Part, names);
    case 'RestElement':
      return declare(pattern['argument'] as Part, names);
    case 'Property':
      return declare(pattern['value'] as Part, names);
    case 'ObjectPattern':
    case 'ArrayPattern':
      for (const part of partsOf(pattern)) declare(part, names);
      return;
  }
}

function use(name: string, scope: Scope, free: Set<string>): void {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.around) {
    if (at.names.has(name)) return;
  }
  free.add(name);
}

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && typeof (value as Part).type === 'string';

const listOf = (value: unknown): readonly Part[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isPart) : [];

function partsOf(node: Part): readonly Part[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? listOf(value) : isPart(value) ? [value] : [],
  );
}
