import type { NodeState } from '../../structures/node-state.js';
import { nodeShown } from '../parts/state-words.js';
import type { OutlineGroup, OutlineItem, OutlineNode } from './outline.js';

/** What of a map or loop is shown: items of one state, or one item alone, and how many at most. */
export type ItemChoice = {
  /** Absent: those that failed, if some did, else all. */
  readonly state?: NodeState | 'all';
  readonly number?: number;
  readonly most?: number;
};

/** Which groups and items somebody opened or closed, and which items he wants to see. */
export type OutlineView = {
  /** By path: opened or closed, whatever is usual. */
  readonly opened: ReadonlyMap<string, boolean>;
  readonly choices: ReadonlyMap<string, ItemChoice>;
};

export type OutlineRow =
  | {
      readonly kind: 'node';
      readonly node: OutlineNode;
      readonly depth: number;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'chooser'; readonly group: OutlineGroup; readonly depth: number }
  | {
      readonly kind: 'more';
      readonly group: OutlineGroup;
      readonly left: number;
      readonly depth: number;
    };

/** Groups of more are closed until somebody opens them. */
const usuallyOpen = 12;
/** Items that are shown at first, and each time that somebody wants more. */
export const firstItems = 50;

/** Returns the rows that are seen, top to bottom. */
export function outlineRows(
  nodes: readonly OutlineNode[],
  view: OutlineView,
  depth = 0,
): readonly OutlineRow[] {
  return nodes.flatMap((node): readonly OutlineRow[] => {
    const isOpen = isOpenIn(node, view);
    const row = { kind: 'node', node, depth, isOpen } as const;
    if (node.kind === 'step' || !isOpen) return [row];
    if (node.kind === 'group' && node.isRepeated) return [row, ...itemRows(node, view, depth + 1)];
    return [row, ...outlineRows(node.children, view, depth + 1)];
  });
}

function itemRows(group: OutlineGroup, view: OutlineView, depth: number): readonly OutlineRow[] {
  const choice = view.choices.get(group.path) ?? {};
  const wanted = wantedItems(group, choice);
  const shown = wanted.slice(0, choice.most ?? firstItems);
  const left = wanted.length - shown.length;
  const chooser = group.children.length > 1 ? [{ kind: 'chooser', group, depth } as const] : [];
  const more = left > 0 ? [{ kind: 'more', group, left, depth } as const] : [];
  return [...chooser, ...outlineRows(shown, view, depth), ...more];
}

/** The items of a map or loop that are wanted. */
export function wantedItems(
  { children }: OutlineGroup,
  choice: ItemChoice,
): readonly OutlineItem[] {
  const items = children as readonly OutlineItem[];
  const { number, state = usualState(items) } = choice;
  if (number !== undefined) return items.filter((item) => item.number === number);
  return state === 'all' ? items : items.filter((item) => item.state === state);
}

/** What is shown of a map when nobody has chosen: what failed, if something did. */
export function usualState(items: readonly OutlineNode[]): NodeState | 'all' {
  return items.some(({ state }) => state === 'failed') ? 'failed' : 'all';
}

/** An item of one step is that step. */
export function isFlat(node: OutlineNode): boolean {
  return node.kind === 'step' || (node.kind === 'item' && isSingle(node.children));
}

function isSingle(children: readonly OutlineNode[]): boolean {
  return children.length === 0 || (children.length === 1 && children[0]?.kind === 'step');
}

function isOpenIn(node: OutlineNode, { opened }: OutlineView): boolean {
  if (isFlat(node)) return false;
  const usual = node.kind === 'group' && !node.isRepeated && node.children.length <= usuallyOpen;
  return opened.get(node.path) ?? usual;
}

/** How many nodes are in each state, of the states that some are in. */
export function countStates(
  nodes: readonly OutlineNode[],
): readonly (readonly [NodeState, number])[] {
  const counts = new Map<NodeState, number>();
  for (const { state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Object.keys(nodeShown).flatMap((key) => {
    const state = key as NodeState;
    const count = counts.get(state);
    return count === undefined ? [] : [[state, count] as const];
  });
}
