import { useMemo, useRef, useState } from 'preact/hooks';
import { foldedPicture, isFoldable } from '../../picture/fold.js';
import { layout, type Laid, type PlacedNode } from '../../picture/layout.js';
import type { Picture } from '../../picture/picture.js';
import { curve } from '../../picture/svg.js';
import { isStep } from './find-nodes.js';
import { Arrow, EdgeLabel, FoldButton, Frame, NodeButton } from './nodes.js';
import { GraphTools } from './tools.js';
import { useNodeSearch } from './node-search.js';
import { usePanZoom } from './pan-zoom.js';

type Props = {
  readonly picture: Picture;
  /** What it is a picture of, for those who do not see it. */
  readonly label: string;
  /** Path of the node that is chosen. */
  readonly selected?: string | undefined;
  /** Makes nodes something to press; `path` is that of the definition (`2.map.*.0`). */
  readonly onSelect?: ((path: string) => void) | undefined;
};

/** Of pictures of more nodes large structures are folded until somebody unfolds them. */
const mostNodes = 150;
const largeStructure = 20;

/** A flow, or a job with its states, as a graph. */
export function FlowGraph({ picture, label, selected, onSelect }: Props) {
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const folded = useMemo(() => foldsOf(picture, folds), [picture, folds]);
  const laid = useMemo(() => layout(foldedPicture(picture, folded)), [picture, folded]);
  const box = useRef<HTMLDivElement>(null);
  const chosen = laid.nodes.find((node) => isStep(node) && node.path === selected);
  const zoom = usePanZoom(box, laid, chosen ?? laid.nodes.find(isUnderWay));
  const fold = (path: string): void => {
    setFolds((before) => new Map(before).set(path, !folded.has(path)));
  };
  const unfold = (paths: readonly string[]): void => {
    setFolds((before) => new Map([...before, ...paths.map((path) => [path, false] as const)]));
  };
  const search = useNodeSearch({ picture, laid, folded, unfold, show: zoom.show, onSelect });
  return (
    <div class="graph">
      <GraphTools
        zoom={zoom}
        count={picture.nodes.length}
        found={search.count}
        wanted={search.wanted}
        onWanted={search.look}
        onNext={search.next}
      />
      <div
        class="graph-box"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={label}
        title="Drag to move; the wheel zooms while the graph has the focus"
      >
        <Drawing
          {...{ laid, label, folded, onSelect }}
          scale={zoom.scale}
          chosen={chosen}
          marked={search.marked}
          onFold={fold}
        />
      </div>
    </div>
  );
}

type DrawingProps = Pick<Props, 'label' | 'onSelect'> & {
  readonly laid: Laid;
  readonly scale: number;
  readonly chosen: PlacedNode | undefined;
  /** Ids of what somebody looks for. */
  readonly marked: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
  readonly onFold: (path: string) => void;
};

function Drawing({ laid, label, scale, chosen, marked, folded, onFold, onSelect }: DrawingProps) {
  const [width, height] = [Math.ceil(laid.width), Math.ceil(laid.height)];
  const heads = laid.nodes.filter(({ id }) => folded.has(id));
  const frames = laid.frames.filter(isFoldable);
  const nameOf = (path: string): string => laid.nodes.find(({ id }) => id === path)?.label ?? path;
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width * scale}
      height={height * scale}
      role="group"
      aria-label={label}
    >
      <Arrow />
      {laid.frames.map((frame) => (
        <Frame key={frame.id} frame={frame} />
      ))}
      {laid.edges.map((edge) => (
        <path
          key={`${edge.from} ${edge.to} ${edge.label ?? ''}`}
          class={`edge ${edge.kind}`}
          d={curve(edge.points)}
          marker-end="url(#graph-arrow)"
        />
      ))}
      {laid.nodes.map((node) => (
        <NodeButton
          key={node.id}
          node={node}
          isSelected={node === chosen}
          isFound={marked.has(node.id)}
          onSelect={onSelect}
        />
      ))}
      {laid.edges.map((edge) => (
        <EdgeLabel key={`${edge.from} ${edge.to} ${edge.label ?? ''}`} edge={edge} />
      ))}
      {frames.map(({ x, y, width: w, height: h, path }) => (
        <FoldButton
          key={path}
          {...{ x: x + w / 2 - 16, y: y - h / 2 + 16, name: nameOf(path), isFolded: false }}
          onFold={() => onFold(path)}
        />
      ))}
      {heads.map(({ x, y, width: w, height: h, path, label: name }) => (
        <FoldButton
          key={path}
          {...{ x: x + w / 2 - 4, y: y - h / 2, name, isFolded: true }}
          onFold={() => onFold(path)}
        />
      ))}
    </svg>
  );
}

/** What is folded: what somebody folded, and of very large pictures what is large. */
function foldsOf(
  { nodes, frames }: Picture,
  folds: ReadonlyMap<string, boolean>,
): ReadonlySet<string> {
  const isLarge = (path: string): boolean =>
    nodes.length > mostNodes &&
    nodes.filter((node) => node.path.startsWith(`${path}.`)).length > largeStructure;
  const foldable = frames.filter(isFoldable);
  const folded = foldable.filter(({ path }) => folds.get(path) ?? isLarge(path));
  return new Set(folded.map(({ path }) => path));
}

function isUnderWay(node: PlacedNode): boolean {
  return isStep(node) && ['active', 'waiting', 'retrying', 'failed'].includes(node.state ?? '');
}
