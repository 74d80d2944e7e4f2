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
  const all = (...nodes: readonly (Node | undefined)[]): boolean => nodes.every(isCheapNode);
  const { type = '' } = node;
  switch (type) {
    case 'name':
    case 'string':
    case 'number':
    case 'value':
      return true;
    case 'variable':
      return node.value === '' || node.value === '$';
    case 'path':
      // A block within a path is evaluated once for every item before it.
      return (node.steps ?? []).every(
        (step, i) => (step.type === 'name' || (i === 0 && step.type === 'variable')) && all(step),
      );
    case 'binary':
      return operators.has(String(node.value)) && all(node.lhs, node.rhs);
    case 'condition':
      return all(node.condition, node.then, node.else);
    case 'block':
      return all(...(node.expressions ?? []));
    case 'function':
      return (
        cheapFunctions.has(String(node.procedure?.value)) &&
        node.procedure?.type === 'variable' &&
        all(...(node.arguments ?? []))
      );
    default:
      return false;
  }
}
