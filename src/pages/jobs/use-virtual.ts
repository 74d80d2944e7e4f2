import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

/** The rows that are seen, and what is needed to show them in their place. */
export type Virtual = {
  readonly rows: readonly VirtualItem[];
  /** Height of all rows, seen or not, in pixels. */
  readonly height: number;
  readonly show: (index: number) => void;
};

type Options = {
  readonly count: number;
  /** Of every row, in pixels. */
  readonly rowHeight: number;
  readonly element: () => HTMLElement | null;
};

/** Shows the rows that are in view only, however many there are. */
export function useVirtual({ count, rowHeight, element }: Options): Virtual {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    getScrollElement: element,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 8,
    onChange: () => again(undefined),
  };
  const kept = useRef<Virtualizer<HTMLElement, HTMLElement>>();
  const virtualizer = (kept.current ??= new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  const height = useRef(rowHeight);
  if (height.current !== rowHeight) {
    height.current = rowHeight;
    virtualizer.measure();
  }
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    show: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
