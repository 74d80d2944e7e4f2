/** What JSONata's parser makes of an expression, as far as it is looked at. */
type Node = {
  readonly type?: string;
  readonly value?: unknown;
  readonly steps?: readonly Node[];
  readonly arguments?: readonly Node[];
  readonly procedure?: Node;
  readonly expressions?: readonly Node[];
  readonly expression?: Node;
  readonly lhs?: Node;
  readonly rhs?: Node;
  readonly condition?: Node;
  readonly then?: Node;
  readonly else?: Node;
  readonly stages?: unknown;
  readonly predicate?: unknown;
  readonly group?: unknown;
  readonly focus?: unknown;
  readonly index?: unknown;
  readonly ancestor?: unknown;
};

/** Functions that take a time which their arguments bound. */
const cheapFunctions = new Set(['exists', 'not', 'boolean', 'count', 'length', 'uppercase']);
const operators = new Set([
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'and',
  'or',
  '+',
  '-',
  '*',
  '/',
  '%',
  '&',
]);

/**
 * Whether evaluating takes a time that grows with the length of the expression and the size of the
 * data only: paths of names, comparisons, conditions, and functions of one pass. Everything else
 * (lambdas, predicates, ranges, regular expressions, sorting) may take any time.
 */
export function isCheap(node: unknown): boolean {
  return isCheapNode(node as Node);
}

function isCheapNode(node: Node | undefined): boolean {
  if (node === undefined) return true;
  if (node.stages ?? node.predicate ?? node.group ?? node.focus ?? node.index ?? node.ancestor) {
    return false;
  }
  const parts = partsByType.get(node.type ?? '')?.(node);
  return parts !== undefined && parts.every(isCheapNode);
}

/** The nodes that a node is cheap with; undefined: it may take any time. */
type PartsOf = (node: Node) => readonly (Node | undefined)[] | undefined;

const literal: PartsOf = () => [];

/** What is not here may take any time. */
const partsByType: ReadonlyMap<string, PartsOf> = new Map<string, PartsOf>([
  ['name', literal],
  ['string', literal],
  ['number', literal],
  ['value', literal],
  ['variable', ({ value }) => (value === '' || value === '$' ? [] : undefined)],
  ['path', ({ steps = [] }) => (steps.every(isPlainStep) ? steps : undefined)],
  ['binary', ({ value, lhs, rhs }) => (operators.has(String(value)) ? [lhs, rhs] : undefined)],
  ['condition', (node) => [node.condition, node.then, node.else]],
  ['block', ({ expressions = [] }) => expressions],
  ['function', (node) => (isCheapFunction(node.procedure) ? (node.arguments ?? []) : undefined)],
]);

/** A block within a path is evaluated once for every item before it. */
function isPlainStep({ type }: Node, index: number): boolean {
  return type === 'name' || (index === 0 && type === 'variable');
}

function isCheapFunction(procedure: Node | undefined): boolean {
  return procedure?.type === 'variable' && cheapFunctions.has(String(procedure.value));
}
