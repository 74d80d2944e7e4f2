import { useState } from 'preact/hooks';
import { JsonView } from '../parts/json.js';
import { stepsInside, type OutlineItem, type OutlineNode, type OutlineStep } from './outline.js';
import { definedPath } from '../../structures/paths.js';

type Props = {
  /** Path of the step that is shown, in an item of a map or a round of a loop. */
  readonly path: string;
  readonly nodes: readonly OutlineNode[];
  readonly onSelect: (path: string) => void;
};

/** Leads from the step of one item to the same step of others, and shows the value of the item. */
export function ItemSteps({ path, nodes, onSelect }: Props) {
  const [failedOnly, setFailedOnly] = useState(false);
  const around = itemsAround(nodes, path);
  const item = around.at(-1);
  if (item === undefined) return null;
  const all = sameSteps(nodes, path);
  const wanted = failedOnly ? all.filter((one) => hasFailed(one) || one.path === path) : all;
  const at = wanted.findIndex((one) => one.path === path);
  const go = (by: number): void => {
    const next = wanted[at + by];
    if (next !== undefined) onSelect(next.path);
  };
  const failed = all.filter(hasFailed).length;
  return (
    <div class="item-steps">
      <div class="buttons" role="group" aria-label="Item">
        <button type="button" disabled={at <= 0} aria-label="Item before" onClick={() => go(-1)}>
          ‹
        </button>
        <strong>{around.map(({ label }) => label).join(', ')}</strong>
        <button
          type="button"
          disabled={at < 0 || at + 1 >= wanted.length}
          aria-label="Next item"
          onClick={() => go(1)}
        >
          ›
        </button>
        <span class="muted">
          {(at + 1).toLocaleString()} of {wanted.length.toLocaleString()}
        </span>
        {failed > 0 && (
          <label class="check">
            <input
              type="checkbox"
              checked={failedOnly}
              onChange={() => setFailedOnly(!failedOnly)}
            />{' '}
            Failed only ({failed.toLocaleString()})
          </label>
        )}
      </div>
      {item.value !== undefined && (
        <details open>
          <summary>Value of {item.label}</summary>
          <JsonView value={item.value} what={`the value of ${item.label}`} />
        </details>
      )}
    </div>
  );
}

/** The items and rounds that a path is in, the outermost first. */
function itemsAround(nodes: readonly OutlineNode[], path: string): readonly OutlineItem[] {
  const isIn = ({ path: at }: OutlineNode): boolean =>
    at === '' || path === at || path.startsWith(`${at}.`);
  const next = nodes.find((node) => node.kind !== 'step' && isIn(node));
  if (next === undefined || next.kind === 'step') return [];
  const inside = itemsAround(next.children, path);
  return next.kind === 'item' ? [next, ...inside] : inside;
}

/** The same step in every item in which it has begun. */
function sameSteps(nodes: readonly OutlineNode[], path: string): readonly OutlineStep[] {
  const defined = definedPath(path);
  return nodes.flatMap(stepsInside).filter((step) => definedPath(step.path) === defined);
}

const hasFailed = ({ state }: OutlineStep): boolean => state === 'failed';
