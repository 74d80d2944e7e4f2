import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Laid, PlacedNode } from '../../picture/layout.js';

/** Smaller letters cannot be read: only somebody who asks for it sees the picture smaller. */
const leastAtFirst = 0.6;
const least = 0.1;
const most = 3;
/** Pixels that a pointer moves before it drags, and does not press. */
const dragFrom = 4;

/** How large a picture is shown, and what changes that. */
export type PanZoom = {
  readonly scale: number;
  /** So many times as large; the middle stays where it is. */
  readonly by: (factor: number) => void;
  /** As large as all of it fits. */
  readonly fit: () => void;
  /** Moves a node to the middle. */
  readonly show: (node: Pick<PlacedNode, 'x' | 'y'>) => void;
};

/** What stays under the pointer while the size changes: a point of the picture, and of the box. */
type Anchor = { readonly at: Point; readonly in: Point };
type Point = { readonly x: number; readonly y: number };

/**
 * Shows a picture in a box that scrolls: at first as wide as the box, but never too small to read, with
 * `focus` in the middle. Dragging moves it; the wheel zooms while the box has the focus, or with Ctrl.
 */
export function usePanZoom(
  box: RefObject<HTMLDivElement>,
  { width, height }: Pick<Laid, 'width' | 'height'>,
  focus: Pick<PlacedNode, 'x' | 'y'> | undefined,
): PanZoom {
  const [scale, setScale] = useState(1);
  const isChosen = useRef(false);
  const anchor = useRef<Anchor>();
  const now = useRef({ scale, width, height });
  now.current = { scale, width, height };
  const to = useCallback(
    (next: number, point?: Point) => {
      const element = box.current;
      if (element === null) return;
      const { clientWidth, clientHeight, scrollLeft, scrollTop } = element;
      const inBox = point ?? { x: clientWidth / 2, y: clientHeight / 2 };
      const { scale: before } = now.current;
      const at = { x: (scrollLeft + inBox.x) / before, y: (scrollTop + inBox.y) / before };
      anchor.current = { at, in: inBox };
      isChosen.current = true;
      setScale(Math.min(most, Math.max(least, next)));
    },
    [box],
  );
  const show = useCallback(
    ({ x, y }: Point) => {
      const element = box.current;
      if (element === null) return;
      const { scale: by } = now.current;
      const { clientWidth, clientHeight } = element;
      element.scrollTo(x * by - clientWidth / 2, y * by - clientHeight / 2);
    },
    [box],
  );
  useLayoutEffect(() => {
    if (isChosen.current) return;
    const { clientWidth = width } = box.current ?? {};
    setScale(Math.min(1, Math.max(leastAtFirst, (clientWidth - 8) / width)));
  }, [box, width]);
  useLayoutEffect(() => {
    const { current: kept } = anchor;
    anchor.current = undefined;
    if (kept !== undefined) {
      box.current?.scrollTo(kept.at.x * scale - kept.in.x, kept.at.y * scale - kept.in.y);
    } else if (focus !== undefined) show(focus);
    // Where the job stands is shown when the picture appears, and when that is somewhere else.
  }, [box, scale, show, focus?.x, focus?.y]);
  useWheel(box, to, now);
  useDrag(box);
  return {
    scale,
    by: (factor) => to(scale * factor),
    fit: () => {
      const { clientWidth = 1, clientHeight = 1 } = box.current ?? {};
      to(Math.min((clientWidth - 8) / width, (clientHeight - 8) / height, 1));
    },
    show,
  };
}

function useWheel(
  box: RefObject<HTMLDivElement>,
  to: (scale: number, point: Point) => void,
  now: RefObject<{ readonly scale: number }>,
): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const hasFocus = element.contains(document.activeElement);
      if (!event.ctrlKey && !hasFocus) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const factor = Math.exp(-event.deltaY / 400);
      to((now.current?.scale ?? 1) * factor, { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [box, to, now]);
}

/** Moves what is in the box with the mouse; fingers scroll it anyway. */
function useDrag(box: RefObject<HTMLDivElement>): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const end = new AbortController();
    const { signal } = end;
    let from: Point | undefined;
    let hasMoved = false;
    const onDown = ({ button, pointerType, clientX, clientY }: PointerEvent): void => {
      if (button !== 0 || pointerType !== 'mouse') return;
      hasMoved = false;
      from = { x: clientX + element.scrollLeft, y: clientY + element.scrollTop };
    };
    const onMove = ({ clientX, clientY }: PointerEvent): void => {
      if (from === undefined) return;
      const [x, y] = [from.x - clientX, from.y - clientY];
      const distance = Math.hypot(x - element.scrollLeft, y - element.scrollTop);
      hasMoved ||= distance > dragFrom;
      if (hasMoved) element.scrollTo(x, y);
    };
    const onUp = (): void => {
      from = undefined;
    };
    // What ends a drag presses nothing.
    const onClick = (event: MouseEvent): void => {
      if (hasMoved) event.stopPropagation();
      hasMoved = false;
    };
    element.addEventListener('pointerdown', onDown, { signal });
    window.addEventListener('pointermove', onMove, { signal });
    window.addEventListener('pointerup', onUp, { signal });
    element.addEventListener('click', onClick, { signal, capture: true });
    return () => end.abort();
  }, [box]);
}
