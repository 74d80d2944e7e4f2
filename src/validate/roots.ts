import { closest } from '../model/closest.js';
import { isObject } from '../model/object.js';
import { loadJsonata } from '../plugin/late-packages.js';
import type { Written } from './written.js';
import { isAnswer, isExpression, isMatchOfWait, textsIn } from './document.js';

/** What conditions, lists to go over and outputs know by name; a map may add one of its own. */
const roots = [
  'results',
  'parent_results',
  'params',
  'job',
  'step',
  'item',
  'index',
  'round',
  'failure',
];

/**
 * Names at the root of a JSONata expression that no job has: such a path is never there, so that the
 * condition is always false. Texts that cannot be read are told elsewhere.
 */
export function unknownRoots(
  doc: Written,
): readonly { readonly path: string; readonly message: string }[] {
  const texts = textsIn(doc);
  const own = texts.filter(({ keys }) => keys.at(-1) === 'as').map(({ text }) => text);
  const known = [...roots, ...own];
  return texts
    .filter(({ keys }) => isExpression(keys))
    .flatMap(({ keys, path, text }) => {
      const there = [
        ...known,
        ...(isAnswer(keys) ? ['data'] : []),
        ...(isMatchOfWait(keys) ? ['event'] : []),
      ];
      return [...new Set(rootsOf(text))]
        .filter((name) => !there.includes(name))
        .map((name) => {
          const close = closest(name, there);
          const todo =
            close === undefined ? `known are ${there.join(', ')}.` : `did you mean "${close}"?`;
          return { path, message: `${path} asks for "${name}", which is never there; ${todo}` };
        });
    });
}

function rootsOf(text: string): readonly string[] {
  try {
    return namesIn(loadJsonata()(text).ast());
  } catch {
    // That it is none is told where the document is checked by itself.
    return [];
  }
}

/** Where names belong to the value that is looked at, and no longer to the root. */
const inner = ['predicate', 'stages', 'group', 'terms', 'focus', 'index'];

function namesIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn);
  if (!isObject(node) || node['type'] === 'transform') return [];
  if (node['type'] === 'path' && Array.isArray(node['steps'])) {
    const [first] = node['steps'] as readonly unknown[];
    if (!isObject(first) || first['type'] !== 'name') return namesIn(first);
    return typeof first['value'] === 'string' ? [first['value']] : [];
  }
  return Object.entries(node).flatMap(([key, value]) =>
    inner.includes(key) ? [] : namesIn(value),
  );
}
