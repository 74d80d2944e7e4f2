import { shortened } from '../../words.js';
import { nodeShown } from '../parts/state-words.js';
import { countStates, isFlat } from './outline-rows.js';
import { stepPathOf, type OutlineItem, type OutlineNode } from './outline.js';
import type { StepOutline } from './use-outline.js';

type Props = {
  readonly node: OutlineNode;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly outline: StepOutline;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
};

/** The name of a row: it opens a structure, and chooses a step. */
export function OutlineName({ node, depth, isOpen, outline, selected, onSelect }: Props) {
  const path = stepPathOf(node);
  const isStructure = !isFlat(node);
  const act = (): void => {
    if (isStructure) outline.open(node.path, !isOpen);
    else onSelect(path);
  };
  return (
    <button
      type="button"
      class="quiet step-name"
      style={{ paddingLeft: `${0.5 + depth}rem` }}
      aria-pressed={isStructure ? undefined : path === selected}
      aria-expanded={isStructure ? isOpen : undefined}
      title={`${titleOf(node)} (${node.path === '' ? 'the whole flow' : node.path})`}
      onClick={act}
    >
      {isStructure && <span aria-hidden="true">{isOpen ? '▾' : '▸'} </span>}
      <span class="name">{nameOf(node)}</span>
      {node.kind === 'step' && node.attempts.length > 1 && <small> ×{node.attempts.length}</small>}
      {node.kind === 'group' && <small class="muted"> {countsOf(node.children)}</small>}
    </button>
  );
}

/** `60: 3 failed, 57 succeeded`. */
function countsOf(nodes: readonly OutlineNode[]): string {
  const counts = countStates(nodes).map(
    ([state, n]) => `${n.toLocaleString()} ${nodeShown[state].word}`,
  );
  return `${nodes.length.toLocaleString()}: ${counts.join(', ')}`;
}

function nameOf(node: OutlineNode) {
  if (node.kind === 'step') return node.name;
  if (node.kind === 'group') return node.label;
  const value = valueText(node, 40);
  return (
    <>
      {node.label}
      {value !== '' && <code class="muted"> {value}</code>}
    </>
  );
}

function titleOf(node: OutlineNode): string {
  if (node.kind === 'step') return node.name;
  if (node.kind === 'group') return `${node.label}, ${countsOf(node.children)}`;
  const value = valueText(node, 300);
  return value === '' ? node.label : `${node.label}: ${value}`;
}

/** The value of an item on one line. */
function valueText(item: OutlineItem, most: number): string {
  if (item.value === undefined) return '';
  return shortened(JSON.stringify(item.value), most);
}
