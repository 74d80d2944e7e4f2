import type { Point } from '../../picture/layout.js';

/** A picture in a box that scrolls; the box centres a picture that is narrower. */
export type Viewed = {
  /** Of the picture as it is shown, in pixels. */
  readonly width: number;
  readonly scale: number;
  /** Width of the box. */
  readonly boxWidth: number;
};

/** Returns the point of the picture that is at a place in the box. */
export function pointBelow(viewed: Viewed, scroll: Point, inBox: Point): Point {
  const { scale } = viewed;
  return {
    x: (scroll.x + inBox.x - marginOf(viewed)) / scale,
    y: (scroll.y + inBox.y) / scale,
  };
}

/** Returns how far the box has to be scrolled for a point of the picture to be at a place in it. */
export function scrollFor(viewed: Viewed, point: Point, inBox: Point): Point {
  const { scale } = viewed;
  return {
    x: marginOf(viewed) + point.x * scale - inBox.x,
    y: point.y * scale - inBox.y,
  };
}

const marginOf = ({ width, boxWidth }: Viewed): number => Math.max(0, (boxWidth - width) / 2);
