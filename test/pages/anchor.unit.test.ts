import { describe, expect, it } from 'vitest';
import { pointBelow, scrollFor } from '../../src/pages/graph/anchor.js';

/** A picture of 1,000 pixels in a box of 600. */
const at = (scale: number) => ({ width: 1_000 * scale, scale, boxWidth: 600 });
const pointer = { x: 450, y: 200 };

describe('the point below the pointer', () => {
  it.each([
    ['larger than the box', 1, 2],
    ['narrower than the box, and so in its middle, and then larger', 0.3, 1.5],
    ['larger, and then smaller', 2, 0.9],
  ])('stays there while the picture is %s', (_what, before, after) => {
    const point = pointBelow(at(before), { x: 0, y: 40 }, pointer);
    const scroll = scrollFor(at(after), point, pointer);
    const same = pointBelow(at(after), scroll, pointer);
    expect(same.x).toBeCloseTo(point.x);
    expect(same.y).toBeCloseTo(point.y);
  });

  it('is counted from where a narrow picture begins', () => {
    expect(pointBelow(at(0.3), { x: 0, y: 0 }, { x: 150, y: 30 })).toEqual({ x: 0, y: 100 });
    expect(pointBelow(at(1), { x: 100, y: 0 }, { x: 150, y: 30 })).toEqual({ x: 250, y: 30 });
  });
});
