import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Laid, PlacedNode, Point } from '../../picture/layout.js';
import { pointBelow, scrollFor, type Viewed } from './anchor.js';

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

/** What stays below the pointer while the size changes: a point of the picture, and of the box. */
type Anchor = { readonly at: Point; readonly in: Point };

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
  // What is drawn now, and the scale of the next drawing: the wheel may turn several times before it.
  const now = useRef({ scale, width, next: scale });
  now.current = { scale, width, next: scale };
  const to = useCallback(
    (wanted: number, point?: Point) => {
      const element = box.current;
      const next = Math.min(most, Math.max(least, wanted));
      isChosen.current = true;
      if (element === null || next === now.current.next) return;
      const { scrollLeft: x, scrollTop: y } = element;
      const inBox = point ?? middleOf(element);
      anchor.current = {
        at: pointBelow(viewedIn(element, now.current), { x, y }, inBox),
        in: inBox,
      };
      now.current.next = next;
      setScale(next);
    },
    [box],
  );
  const show = useCallback(
    (point: Point) => {
      const element = box.current;
      if (element !== null) moveTo(element, now.current, { at: point, in: middleOf(element) });
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
    const element = box.current;
    if (kept !== undefined && element !== null) moveTo(element, now.current, kept);
    else if (focus !== undefined) show(focus);
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

type Drawn = { readonly scale: number; readonly width: number };

const viewedIn = ({ clientWidth }: Element, { scale, width }: Drawn): Viewed => ({
  width: width * scale,
  scale,
  boxWidth: clientWidth,
});

const middleOf = ({ clientWidth, clientHeight }: Element): Point => ({
  x: clientWidth / 2,
  y: clientHeight / 2,
});

function moveTo(element: Element, drawn: Drawn, { at, in: inBox }: Anchor): void {
  const { x, y } = scrollFor(viewedIn(element, drawn), at, inBox);
  element.scrollTo(x, y);
}

function useWheel(
  box: RefObject<HTMLDivElement>,
  to: (scale: number, point: Point) => void,
  now: RefObject<{ readonly next: number }>,
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
      const x = event.clientX - left - element.clientLeft;
      const y = event.clientY - top - element.clientTop;
      to((now.current?.next ?? 1) * factor, { x, y });
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
