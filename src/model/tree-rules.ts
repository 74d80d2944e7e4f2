/**
 * What a structure must keep beyond the form of its keys. Each rule is asked with the written
 * fields of one structure and answers with the mistakes in it.
 */

/** A mistake in a structure: the keys that lead to it, and what it must be ("must …"). */
export type RuleBreak = {
  readonly keys: readonly (string | number)[];
  readonly message: string;
  /** The sentence says it all; false: the value that is wrong belongs to it. */
  readonly told?: boolean;
};

type Fields = Readonly<Record<string, unknown>>;

/** Structures may be nested this deep. */
export const deepestStructure = 24;

/** `join` cannot ask for more nodes than there are. */
export function joinBreaks({ parallel, join }: Fields): readonly RuleBreak[] {
  const count = Array.isArray(parallel) ? parallel.length : 0;
  if (typeof join !== 'number' || join <= count) return [];
  const message = `must be at most ${count}, the number of nodes in "parallel"`;
  return [{ keys: ['join'], message, told: false }];
}

/** A batch without a callback is a parallel. */
export function batchBreaks(batch: Fields): readonly RuleBreak[] {
  const has = ['on_success', 'on_failure', 'on_complete'].some((key) => batch[key] !== undefined);
  const message =
    'must have a callback beside it: "on_complete", "on_success" or "on_failure" (without one, write "parallel")';
  return has ? [] : [{ keys: ['batch'], message }];
}

/** A choice needs something to choose from. */
export function choiceBreaks({ choice, default: otherwise }: Fields): readonly RuleBreak[] {
  const empty = Array.isArray(choice) && choice.length === 0 && otherwise === undefined;
  return empty
    ? [
        {
          keys: ['choice'],
          message: 'must have at least one {when, then}, or a "default" beside it',
        },
      ]
    : [];
}

/** What templates and conditions see by themselves; a map cannot call its items so. */
const seen = ['job', 'step', 'params', 'results', 'parent_results', 'index', 'round'];

/** The name of the items must not hide something else. */
export function mapNameBreaks({ map }: Fields): readonly RuleBreak[] {
  const name = isFields(map) ? map['as'] : undefined;
  if (typeof name !== 'string' || !seen.includes(name)) return [];
  const message = `must be another name: templates see something else as ${name}`;
  return [{ keys: ['map', 'as'], message }];
}

/** `after` names nodes of the same graph, never itself, and nothing waits for itself in a circle. */
export function graphBreaks({ graph }: Fields): readonly RuleBreak[] {
  if (!isFields(graph)) return [];
  const names = Object.keys(graph);
  const afterOf = (name: string): readonly string[] => {
    const node = graph[name];
    const after = isFields(node) ? node['after'] : undefined;
    return Array.isArray(after) ? after.filter((one) => typeof one === 'string') : [];
  };
  const unknown = names.flatMap((name) =>
    afterOf(name).flatMap((before, i): RuleBreak[] => {
      const keys = ['graph', name, 'after', i];
      if (before === name) return [{ keys, message: `must name another node than ${name} itself` }];
      if (afterOf(name).indexOf(before) < i) {
        return [{ keys, message: `must name each node once: ${before} stands there twice` }];
      }
      if (names.includes(before)) return [];
      const message = `must name a node of this graph (${names.join(', ')})`;
      return [{ keys, message, told: false }];
    }),
  );
  if (unknown.length > 0) return unknown;
  const circle = circleIn(names, afterOf);
  return circle === undefined
    ? joinsOf(graph, afterOf)
    : [{ keys: ['graph'], message: `must have no circle: ${circle.join(' after ')}` }];
}

function joinsOf(graph: Fields, afterOf: (name: string) => readonly string[]): RuleBreak[] {
  return Object.entries(graph).flatMap(([name, node]): RuleBreak[] => {
    if (!isFields(node) || typeof node['join'] !== 'number' || 'parallel' in node) return [];
    const count = afterOf(name).length;
    if (node['join'] <= count) return [];
    const message = `must be at most ${count}, the number of nodes in "after"`;
    return [{ keys: ['graph', name, 'join'], message, told: false }];
  });
}

/** Follows `after` from every node; the names of the first circle found, first name repeated. */
function circleIn(
  names: readonly string[],
  afterOf: (name: string) => readonly string[],
): readonly string[] | undefined {
  const safe = new Set<string>();
  const follow = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (safe.has(name)) return undefined;
    const at = way.indexOf(name);
    if (at >= 0) return [...way.slice(at), name];
    for (const before of afterOf(name)) {
      const circle = follow(before, [...way, name]);
      if (circle !== undefined) return circle;
    }
    safe.add(name);
    return undefined;
  };
  for (const name of names) {
    const circle = follow(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** The keys that lead to the first structure that is nested too deep, if there is one. */
export function depthBreaks(tasks: unknown): readonly RuleBreak[] {
  const keys = tooDeep(tasks, 0, []);
  const message = `must not be nested deeper than ${deepestStructure} structures`;
  return keys === undefined ? [] : [{ keys, message }];
}

const kinds = ['sequence', 'parallel', 'batch', 'graph', 'choice', 'map', 'loop'];

function tooDeep(
  value: unknown,
  depth: number,
  keys: readonly (string | number)[],
): readonly (string | number)[] | undefined {
  const list = Array.isArray(value);
  if (!list && !isFields(value)) return undefined;
  const isNode = list ? typeof keys.at(-1) !== 'string' : kinds.some((kind) => kind in value);
  const deeper = isNode ? depth + 1 : depth;
  if (deeper > deepestStructure) return keys;
  for (const [key, inner] of Object.entries(value)) {
    if (!list && (key === 'params' || key === 'over')) continue;
    const found = tooDeep(inner, deeper, [...keys, list ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
