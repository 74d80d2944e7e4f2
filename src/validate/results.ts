import { closest } from '../model/closest.js';
import { withPositions } from '../evaluate/expressions.js';
import { isObject } from '../model/object.js';
import { loadHandlebars, loadJsonata } from '../plugin/late-packages.js';
import { leavesOf, namesIn as namesInTree } from '../structures/tree.js';
import type { Structure } from '../model/tree.js';
import type { Written } from './written.js';
import { isExpression, isOfEntry, textsIn } from './document.js';

/** A reference to the result of a step that is not there. */
export type LostResult = { readonly path: string; readonly message: string };

/**
 * What templates and conditions of a flow or job say of `results.NAME` where no step of `tasks` has
 * that name. Texts that cannot be read are told elsewhere.
 */
export function lostResults(doc: Written, tasks: Structure): readonly LostResult[] {
  const leaves = leavesOf(tasks);
  const names = namesInTree(tasks);
  // Results go by step key, too, but nobody mistypes one of these for a name.
  const known = new Set([...names, ...leaves.map(({ label }) => label)]);
  return textsIn(doc).flatMap(({ keys, path, text }) => {
    const lost = [...new Set(namesIn(text, keys))].filter((name) => !known.has(name));
    return lost.map((name) => {
      const close = closest(name, [...new Set(names)]);
      const todo =
        close === undefined
          ? `the steps are ${[...new Set(names)].join(', ') || 'none'}.`
          : `did you mean "${close}"?`;
      const message = `${path} asks for results.${name}, but no step of the flow has that name; ${todo}`;
      return { path, message };
    });
  });
}

function namesIn(text: string, keys: readonly string[]): readonly string[] {
  if (!text.includes('results')) return [];
  try {
    if (isExpression(keys)) return namesInExpression(loadJsonata()(text).ast());
    return (keys.includes('params') || isOfEntry(keys)) && text.includes('{{')
      ? namesInTemplate(loadHandlebars().parse(withPositions(text)), true)
      : [];
  } catch {
    return [];
  }
}

/**
 * Names after `results` in a template. Inside `each` and `with` names belong to what these go
 * through; from there only `@root` leads back for certain.
 */
function namesInTemplate(node: unknown, outside: boolean): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((item) => namesInTemplate(item, outside));
  if (!isObject(node)) return [];
  if (node['type'] === 'PathExpression') {
    const { data, depth, parts } = node as { data?: unknown; depth?: unknown; parts?: unknown };
    const path = Array.isArray(parts) ? (parts as readonly unknown[]) : [];
    if (data === true) return path[0] === 'root' ? afterResults(path.slice(1)) : [];
    return outside && depth === 0 ? afterResults(path) : [];
  }
  const { program, inverse, ...others } = node;
  const called = isObject(node['path']) ? node['path']['original'] : undefined;
  const inside = outside && called !== 'each' && called !== 'with';
  return [
    ...Object.values(others).flatMap((inner) => namesInTemplate(inner, outside)),
    ...namesInTemplate(program, inside),
    ...namesInTemplate(inverse, outside),
  ];
}

/** Names after `results` in an expression; within the steps of a path names belong to its value. */
function namesInExpression(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(namesInExpression);
  if (!isObject(node)) return [];
  if (node['type'] !== 'path' || !Array.isArray(node['steps'])) {
    return Object.values(node).flatMap(namesInExpression);
  }
  const steps = node['steps'].filter(isObject);
  const fromRoot = steps[0]?.['type'] === 'variable' && steps[0]['value'] === '$';
  const path = (fromRoot ? steps.slice(1) : steps).map(({ type, value }) =>
    type === 'name' ? value : undefined,
  );
  const first = steps[0]?.['type'] === 'name' ? [] : namesInExpression(steps[0]);
  return [...afterResults(path), ...first];
}

function afterResults([first, name]: readonly unknown[]): readonly string[] {
  return first === 'results' && typeof name === 'string' ? [name] : [];
}
