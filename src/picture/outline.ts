import type { PlacedNode } from './layout.js';

/** What is drawn around the text of a node; `points` and `inner` where there are such. */
export type Outline =
  | { readonly kind: 'circle'; readonly radius: number; readonly inner?: number }
  | { readonly kind: 'polygon'; readonly points: readonly (readonly [x: number, y: number])[] }
  | { readonly kind: 'rect'; readonly round: number };

const slant = 16;

/** The form that tells what a node is: circles for ends, a hexagon for a choice, boxes for the rest. */
export function outlineOf({ kind, x, y, width, height }: PlacedNode): Outline {
  if (kind === 'begin' || kind === 'end' || kind === 'meet') {
    const radius = width / 2;
    return { kind: 'circle', radius, ...(kind === 'end' ? { inner: radius - 5 } : {}) };
  }
  if (kind === 'choice') {
    const [left, right] = [x - width / 2, x + width / 2];
    const [top, bottom] = [y - height / 2, y + height / 2];
    const points = [
      [left, y],
      [left + slant, top],
      [right - slant, top],
      [right, y],
      [right - slant, bottom],
      [left + slant, bottom],
    ] as const;
    return { kind: 'polygon', points };
  }
  return { kind: 'rect', round: kind === 'task' ? 6 : Math.min(20, height / 2) };
}
