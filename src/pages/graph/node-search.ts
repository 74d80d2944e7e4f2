import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { foldsAround } from '../../picture/fold.js';
import type { Laid, PlacedNode } from '../../picture/layout.js';
import type { Picture } from '../../picture/picture.js';
import { nodesLike, seenFor } from './find-nodes.js';

type Searching = {
  readonly picture: Picture;
  readonly laid: Laid;
  readonly folded: ReadonlySet<string>;
  readonly unfold: (paths: readonly string[]) => void;
  readonly show: (node: Pick<PlacedNode, 'x' | 'y'>) => void;
  readonly onSelect?: ((path: string) => void) | undefined;
};

/** Finds nodes by what is written on them, and shows one after the other. */
export type NodeSearch = {
  readonly wanted: string;
  readonly look: (text: string) => void;
  readonly count: number;
  /** Ids of the nodes that are seen for what was found: a folded structure for what is in it. */
  readonly marked: ReadonlySet<string>;
  readonly next: () => void;
};

/** A search in a picture; what is found in a folded structure is unfolded when it is shown. */
export function useNodeSearch(searching: Searching): NodeSearch {
  const { picture, laid, folded, unfold, show, onSelect } = searching;
  const [wanted, look] = useState('');
  const found = useMemo(() => nodesLike(picture, wanted), [picture, wanted]);
  const marked = useMemo(
    () => new Set(found.map((node) => seenFor(node, folded))),
    [found, folded],
  );
  const last = useRef<string>();
  const awaited = useRef<string>();
  const next = (): void => {
    const at = found.findIndex(({ id }) => id === last.current);
    const node = found[(at + 1) % Math.max(1, found.length)];
    if (node === undefined) return;
    last.current = node.id;
    const placed = laid.nodes.find(({ id }) => id === node.id);
    if (placed === undefined) {
      awaited.current = node.id;
      unfold(foldsAround(node.path, folded));
    } else show(placed);
    onSelect?.(node.path);
  };
  // What was unfolded to be shown has a place only now.
  useEffect(() => {
    const placed = laid.nodes.find(({ id }) => id === awaited.current);
    awaited.current = undefined;
    if (placed !== undefined) show(placed);
  }, [laid, show]);
  return { wanted, look, count: found.length, marked, next };
}
